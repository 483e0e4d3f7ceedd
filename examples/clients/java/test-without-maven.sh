#!/usr/bin/env bash
# The tests where there is no Maven, with the JUnit 5 of Debian (apt-get install junit5).
set -euo pipefail
cd "$(dirname "$0")"
out=$(mktemp -d) && trap 'rm -rf "$out"' EXIT
jars=$(printf '%s:' /usr/share/java/{junit-jupiter-{api,engine},junit-platform-{commons,engine,launcher,reporting,console},apiguardian-api,opentest4j,opentest4j-reporting-{events,schema},picocli}.jar)
javac -encoding UTF-8 -d "$out" -cp "$jars" $(find src -name '*.java')
java -cp "$out:$jars" org.junit.platform.console.ConsoleLauncher --scan-classpath "$out" --disable-banner --details=tree
