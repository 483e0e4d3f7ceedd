// What of others is in the package, as CycloneDX: what npm installs with it, what was bundled into dist/, and what the
// embedded chain's bytecode was compiled from. The same build gives the same file: it names neither time nor machine.
import { execFileSync } from 'node:child_process'

/** Compiled into contracts/out/. */
const COMPILED = ['@aave/core-v3', '@openzeppelin/contracts']
const DEVELOPMENT = 'cdx:npm:package:development'

/** The bill of materials as JSON. `bundled`: name and version of the packages in dist/. */
export function sbom(root, bundled) {
  const { metadata, components, dependencies, ...document } = readLock(root)
  delete document.serialNumber
  const inBundle = new Set(bundled.map(({ name, version }) => `${name}@${version}`))
  const kept = components.map((component) => placed(component, inBundle)).filter((component) => component !== undefined)
  const refs = new Set([metadata.component['bom-ref'], ...kept.map((component) => component['bom-ref'])])
  return {
    ...document,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      tools: metadata.tools,
      component: { ...metadata.component, name: 'yield-sandbox', type: 'application' },
    },
    components: kept,
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) })),
  }
}

/** npm's own bill of all that the lock file names, development included. */
function readLock(root) {
  const arguments_ = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  return JSON.parse(execFileSync('npm', arguments_, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }))
}

/** A component with the places it is found in; undefined if it is in no part of the package. */
function placed(component, inBundle) {
  const { name, version, properties } = component
  const development = properties.some((property) => property.name === DEVELOPMENT)
  const places = [
    ...(development ? [] : ['node_modules']),
    ...(inBundle.has(`${name}@${version}`) ? ['dist'] : []),
    ...(COMPILED.includes(name) ? ['contracts/out'] : []),
  ]
  if (places.length === 0) return undefined
  return {
    ...component,
    ...(development && { scope: 'required' }),
    properties: [
      ...properties.filter((property) => property.name !== DEVELOPMENT),
      ...places.map((value) => ({ name: 'yield-sandbox:place', value })),
    ],
  }
}
