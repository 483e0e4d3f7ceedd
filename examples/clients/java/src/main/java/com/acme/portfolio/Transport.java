package com.acme.portfolio;

import com.acme.portfolio.YieldException.NoAnswer;
import com.acme.portfolio.YieldException.OutcomeUnknown;
import com.acme.portfolio.YieldException.Refused;
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
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** Sends requests with both tokens, and again when that may help. */
final class Transport {
    /** How long an answer is waited for: a transfer may take a minute. */
    private static final int TIMEOUT_S = 90;

    private final Settings settings;
    private final UserTokens userTokens;
    // By default it would offer HTTP/2 with each request.
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build();
    private String idpToken;
    private long staleAt;

    Transport(Settings settings) {
        this.settings = settings;
        userTokens = new UserTokens(settings);
    }

    /**
     * {@code user}, {@code key} and {@code body} may be null. Retries keep the key: whatever became of the first request, it happens once.
     * A refusal such as 401 says nothing of an earlier attempt that was lost: only 422 is the outcome of a key.
     */
    Map<String, Object> send(String method, String path, String user, UUID key, Map<String, String> body) {
        for (int attempt = 1; ; attempt++) {
            try {
                return sendWithTokens(method, path, user, key, body);
            } catch (YieldException e) {
                if (attempt > 1 && key != null && !e.mayPass() && ((Refused) e).status != 422) throw new OutcomeUnknown(key, e);
                if (!e.mayPass() || attempt >= settings.attempts() || !sleep(pause(e, attempt))) throw e;
            }
        }
    }

    /** A token that is refused is renewed once, and the request repeated as it was. */
    private Map<String, Object> sendWithTokens(String method, String path, String user, UUID key, Map<String, String> body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(settings.baseUrl() + "/v1/partner/" + path))
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(Json.write(body)));
        if (body != null) request.setHeader("Content-Type", "application/json");
        if (key != null) request.setHeader("Idempotency-Key", key.toString());
        if (user != null) request.setHeader("X-User-Token", userTokens.get(user));
        String token = getIdpToken(null);
        request.setHeader("Authorization", "Bearer " + token);
        try {
            return exchange(request.build());
        } catch (Refused e) {
            if (e.code.equals("invalid_idp_token")) {
                request.setHeader("Authorization", "Bearer " + getIdpToken(token));
            } else if (e.code.equals("invalid_user_token") && user != null) {
                request.setHeader("X-User-Token", userTokens.renew(user));
            } else {
                throw e;
            }
            return exchange(request.build());
        }
    }

    private Map<String, Object> exchange(HttpRequest request) {
        HttpResponse<String> response = answerTo(request);
        Map<String, Object> fields;
        try {
            fields = Json.readObject(response.body());
        } catch (IllegalArgumentException e) { // a proxy's page
            if (response.statusCode() < 300) throw new NoAnswer(e);
            fields = Map.of();
        }
        if (response.statusCode() < 300) return fields;
        throw new Refused(response, fields.containsKey("code") ? fields.get("code") : fields.get("error"), fields.get("detail"));
    }

    private HttpResponse<String> answerTo(HttpRequest request) {
        CompletableFuture<HttpResponse<String>> pending = http.sendAsync(request, BodyHandlers.ofString());
        try {
            return pending.get(TIMEOUT_S, TimeUnit.SECONDS); // HttpRequest.timeout() ends with the headers: a body may hang
        } catch (ExecutionException e) {
            throw new NoAnswer(e.getCause());
        } catch (TimeoutException e) {
            pending.cancel(true);
            throw new NoAnswer(e);
        } catch (InterruptedException e) {
            pending.cancel(true);
            Thread.currentThread().interrupt();
            throw new NoAnswer(e);
        }
    }

    /** Cached until 60 seconds before it expires, and never the refused one; threads share one request for it. */
    private synchronized String getIdpToken(String refused) {
        if (idpToken != null && !idpToken.equals(refused) && System.nanoTime() < staleAt) return idpToken;
        Map<String, String> form = Map.of("grant_type", "client_credentials", "client_id", settings.clientId(), "client_secret",
                settings.clientSecret(), "scope", settings.scope());
        String body = form.entrySet().stream().map(field -> field.getKey() + "=" + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
        long asked = System.nanoTime();
        Map<String, Object> answer = exchange(HttpRequest.newBuilder(URI.create(settings.authUrl()))
                .header("Content-Type", "application/x-www-form-urlencoded").POST(BodyPublishers.ofString(body)).build());
        staleAt = asked + TimeUnit.SECONDS.toNanos(((Number) answer.get("expires_in")).longValue() - 60);
        idpToken = (String) answer.get("access_token");
        return idpToken;
    }

    /** Milliseconds: what the service asks for, else 0.25, 0.5, 1, 2, 4, 4, ... s; chance keeps many clients apart. */
    private static long pause(YieldException failure, int attempt) {
        ThreadLocalRandom chance = ThreadLocalRandom.current();
        if (failure instanceof Refused refused && refused.retryAfter != null) return refused.retryAfter.toMillis() + chance.nextLong(100);
        return (long) (Math.min(4000, 125 * Math.pow(2, attempt)) * chance.nextDouble(0.75, 1.25));
    }

    /** False when the thread is wanted no more. */
    static boolean sleep(long ms) {
        try {
            Thread.sleep(ms);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
