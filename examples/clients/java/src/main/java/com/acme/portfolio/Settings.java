package com.acme.portfolio;

import java.util.function.UnaryOperator;

/** Those of one partner application. {@code attempts}: how often a request is sent that gets no final answer. */
public record Settings(String baseUrl, String authUrl, String clientId, String clientSecret, String scope,
        String audience, String issuer, String keyId, String privateKeyPem, int attempts) {

    /** Twelve attempts have about 35 s of pauses. */
    public static final int ATTEMPTS = 12;

    /** By the names that {@code yield-sandbox exec} gives: {@code Settings.of(System::getenv)}. */
    public static Settings of(UnaryOperator<String> env) {
        String attempts = env.apply("DEMO_ATTEMPTS");
        return new Settings(env.apply("YIELD_BASE_URL"), env.apply("YIELD_AUTH_URL"), env.apply("YIELD_CLIENT_ID"),
                env.apply("YIELD_CLIENT_SECRET"), env.apply("YIELD_SCOPE"), env.apply("YIELD_AUDIENCE"),
                env.apply("YIELD_ISSUER"), env.apply("YIELD_KEY_ID"), env.apply("YIELD_PRIVATE_KEY_PEM"),
                attempts == null || attempts.isEmpty() ? ATTEMPTS : Integer.parseInt(attempts));
    }
}
