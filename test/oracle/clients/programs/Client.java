import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A client of java.net.http alone: an order is sent under one key until there is a final answer. `java Client.java` */
public class Client {
  static final String USER = "customer-1";
  static final String[][] ORDERS = {{"deposit", "250000000"}, {"deposit", "100000000"}, {"withdraw", "50000000"}};
  static final Set<Integer> PASSING = Set.of(408, 429, 500, 502, 503, 504);

  final Map<String, String> env = System.getenv();
  final String base = env.get("YIELD_BASE_URL") + "/v1/partner";
  final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  String idpToken = "";
  String userToken = "";

  public static void main(String[] args) throws Exception {
    System.exit(new Client().run());
  }

  int run() throws Exception {
    renew();
    String portfolio = makePortfolio();
    boolean open = false;
    for (String[] order : ORDERS) open |= carryOut(order[0], order[1], portfolio) == 0;
    return open ? 1 : 0;
  }

  /** Returns the status of a final answer, 0 where there is none. */
  int carryOut(String type, String amount, String portfolio) throws Exception {
    String key = UUID.randomUUID().toString();
    String body = "{\"portfolio_id\": \"" + portfolio + "\", \"amount_minor\": \"" + amount + "\"}";
    boolean renewed = false;
    for (int attempt = 1; attempt <= 8; attempt++) {
      long wait = 20L * attempt;
      try {
        HttpResponse<String> answer = post("/end_users/" + USER + "/" + type, key, body);
        int status = answer.statusCode();
        boolean isWhole = answer.body().strip().endsWith("}");
        if (isWhole && status < 300) return status;
        if (status == 401 && !renewed) {
          renewed = true;
          renew();
        } else if (isWhole && status >= 400 && !PASSING.contains(status)) return status;
        wait = answer.headers().firstValue("retry-after").map(text -> 1000 * Long.parseLong(text)).orElse(wait);
      } catch (IOException noAnswer) {
        // The transfer may have happened: the same key says.
      }
      Thread.sleep(wait);
    }
    return 0;
  }

  String makePortfolio() throws Exception {
    String pools = insist(() -> request("/pools?limit=100").GET().build());
    int at = pools.indexOf("\"pool_id\":\"aave-usdc\"");
    if (at < 0) throw new IllegalStateException("there is no pool aave-usdc");
    String pool = pools.substring(at);
    insist(() -> json("/end_users", null, "{\"external_id\": \"" + USER + "\"}"));
    StringBuilder place = new StringBuilder("{\"name\": \"Savings\"");
    for (String name : new String[] {"chain_id", "token_address", "market_address", "protocol"})
      place.append(", \"" + name + "\": \"" + field(pool, name) + "\"");
    String key = UUID.randomUUID().toString();
    return field(insist(() -> json("/end_users/" + USER + "/portfolios", key, place + "}")), "portfolio_id");
  }

  void renew() throws Exception {
    String form = "grant_type=client_credentials&client_id=" + encoded("YIELD_CLIENT_ID") + "&client_secret="
        + encoded("YIELD_CLIENT_SECRET") + "&scope=" + encoded("YIELD_SCOPE");
    HttpRequest idp = HttpRequest.newBuilder(URI.create(env.get("YIELD_AUTH_URL")))
        .header("content-type", "application/x-www-form-urlencoded").POST(BodyPublishers.ofString(form)).build();
    idpToken = field(insist(() -> idp), "access_token");
    URI minting = URI.create(env.get("YIELD_CONTROL_URL") + "/tenants/acme/user_tokens");
    HttpRequest mint = HttpRequest.newBuilder(minting).header("content-type", "application/json")
        .POST(BodyPublishers.ofString("{\"external_id\": \"" + USER + "\"}")).build();
    userToken = field(insist(() -> mint), "token");
  }

  /** For what this client is not about: tokens, the customer, her portfolio. */
  String insist(Supplier<HttpRequest> request) throws Exception {
    for (int attempt = 1; attempt <= 20; attempt++) {
      try {
        HttpResponse<String> answer = http.send(request.get(), BodyHandlers.ofString());
        if (answer.statusCode() < 300 && answer.body().strip().endsWith("}")) return answer.body();
        if (answer.statusCode() == 401) renew();
      } catch (IOException noAnswer) {
        // Again.
      }
      Thread.sleep(10L * attempt);
    }
    throw new IllegalStateException("no good answer from " + request.get().uri().getPath());
  }

  HttpResponse<String> post(String path, String key, String body) throws Exception {
    return http.send(json(path, key, body), BodyHandlers.ofString());
  }

  HttpRequest json(String path, String key, String body) {
    HttpRequest.Builder request = request(path).header("content-type", "application/json");
    if (key != null) request.header("idempotency-key", key);
    return request.POST(BodyPublishers.ofString(body)).build();
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofSeconds(90))
        .header("authorization", "Bearer " + idpToken).header("x-user-token", userToken);
  }

  String encoded(String name) {
    return URLEncoder.encode(env.get(name), StandardCharsets.UTF_8);
  }

  static String field(String json, String name) {
    Matcher found = Pattern.compile("\"" + name + "\"\\s*:\\s*\"([^\"]*)\"").matcher(json);
    if (!found.find()) throw new IllegalStateException("no " + name);
    return found.group(1);
  }
}
