package com.acme.portfolio;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A world of its own for each test, by one call; closing it takes it away. Under exec and explore, which give one already, that is taken:
 * requests elsewhere would not be judged.
 */
final class Sandbox implements AutoCloseable {
    private final HttpClient http = HttpClient.newHttpClient();
    private final Map<String, String> env = new HashMap<>(System.getenv());
    private final boolean own = !env.containsKey("YIELD_CLIENT_ID");
    private String controlUrl = env.getOrDefault("YIELD_CONTROL_URL", "http://127.0.0.1:4010/_sandbox");

    @SuppressWarnings("unchecked")
    Sandbox() throws Exception {
        if (!own) return;
        Map<String, Object> made = Json.readObject(control("POST", "/namespaces", "{\"confirmation_delay\": \"0\"}"));
        controlUrl = (String) made.get("control_url");
        Map<String, Object> tenant = ((List<Map<String, Object>>) made.get("tenants")).get(0);
        tenant.put("key_id", tenant.get("kid"));
        for (Map<String, Object> part : List.of(made, tenant)) {
            part.forEach((name, value) -> env.put("YIELD_" + name.toUpperCase(), String.valueOf(value)));
        }
    }

    YieldClient client() {
        return new YieldClient(Settings.of(env::get));
    }

    /** Lets something go wrong: a rule of POST faults. */
    void fault(String rule) throws Exception {
        control("POST", "/faults", rule);
    }

    private String control(String method, String path, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(controlUrl + path)).method(method, BodyPublishers.ofString(body));
        if (!body.isEmpty()) request.header("Content-Type", "application/json");
        String token = env.get("YIELD_SANDBOX_CONTROL_TOKEN");
        if (token != null) request.header("Authorization", "Bearer " + token);
        HttpResponse<String> response = http.send(request.build(), BodyHandlers.ofString());
        if (response.statusCode() >= 300) throw new IllegalStateException(response.body());
        return response.body();
    }

    @Override
    public void close() throws Exception {
        if (own) control("DELETE", "", "");
    }
}
