package com.acme.portfolio;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** Mints a token per end user (RS256), and keeps it until five minutes before its hour is over. */
final class UserTokens {
    private static final int LIFETIME_S = 3600;

    private record Kept(String token, long expires) {
    }

    private final Settings settings;
    private final PrivateKey key;
    private final Map<String, Kept> tokens = new ConcurrentHashMap<>();

    UserTokens(Settings settings) {
        this.settings = settings;
        String base64 = settings.privateKeyPem().replaceAll("-----[A-Z ]+-----|\\s", "");
        try {
            key = KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(base64)));
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("privateKeyPem is no RSA key in PKCS #8", e);
        }
    }

    String get(String user) {
        long now = Instant.now().getEpochSecond();
        return tokens.compute(user, (name, kept) -> kept != null && kept.expires - 300 > now ? kept : mint(name, now)).token;
    }

    /** Forgets the refused one and mints another. */
    String renew(String user) {
        tokens.remove(user);
        return get(user);
    }

    private Kept mint(String user, long now) {
        long expires = now + LIFETIME_S;
        String signed = part(Map.of("alg", "RS256", "kid", settings.keyId(), "typ", "JWT")) + "." + part(Map.of("sub", user, "iss",
                settings.issuer(), "aud", settings.audience(), "iat", now, "exp", expires, "jti", UUID.randomUUID().toString()));
        try {
            Signature signature = Signature.getInstance("SHA256withRSA");
            signature.initSign(key);
            signature.update(signed.getBytes(StandardCharsets.US_ASCII));
            return new Kept(signed + "." + base64url(signature.sign()), expires);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("privateKeyPem cannot sign", e);
        }
    }

    private static String part(Map<String, ?> json) {
        return base64url(Json.write(json).getBytes(StandardCharsets.UTF_8));
    }

    private static String base64url(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
