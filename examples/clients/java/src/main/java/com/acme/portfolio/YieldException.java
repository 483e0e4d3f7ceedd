package com.acme.portfolio;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Set;
import java.util.UUID;

/** What can come of a request beside its answer. */
public abstract sealed class YieldException extends RuntimeException {
    private YieldException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Whether it is nothing final about what was asked for: the same request may succeed later. */
    abstract boolean mayPass();

    /** The service answered, and the answer is an error. Programs go by {@link #code}. */
    public static final class Refused extends YieldException {
        private static final Set<Integer> PASSING = Set.of(408, 429, 500, 502, 503, 504);

        public final int status;
        public final String code;
        /** How long the service wants you to wait; null if it does not say. */
        final Duration retryAfter;

        Refused(HttpResponse<?> response, Object code, Object detail) {
            super("%d %s: %s (request %s)".formatted(response.statusCode(), code, detail,
                    response.headers().firstValue("X-Service-Request-Id").orElse("without an id")), null);
            this.status = response.statusCode();
            this.code = String.valueOf(code);
            this.retryAfter = response.headers().firstValue("Retry-After").map(Refused::durationOf).orElse(null);
        }

        @Override
        boolean mayPass() {
            return PASSING.contains(status) || code.equals("idempotency_key_in_progress");
        }

        /** Retry-After has seconds or a date (RFC 9110 section 10.2.3). */
        private static Duration durationOf(String text) {
            if (text.matches("\\d{1,9}")) return Duration.ofSeconds(Long.parseLong(text));
            try {
                Instant date = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
                Duration rest = Duration.between(Instant.now(), date);
                return rest.isNegative() ? Duration.ZERO : rest;
            } catch (DateTimeParseException e) {
                return null;
            }
        }
    }

    /** The connection broke, time ran out, or the body was cut. What was asked for may have happened. */
    public static final class NoAnswer extends YieldException {
        NoAnswer(Throwable cause) {
            super("no answer that can be read", cause);
        }

        @Override
        boolean mayPass() {
            return true;
        }
    }

    /**
     * What was asked for may have happened: no retry and no look-up could say. Repeat the same request under {@link #key}, until it succeeds
     * or is refused with 422; never under a fresh one.
     */
    public static final class OutcomeUnknown extends YieldException {
        public final UUID key;

        OutcomeUnknown(UUID key, Throwable cause) {
            super("the outcome is unknown; repeat the same request with Idempotency-Key " + key, cause);
            this.key = key;
        }

        @Override
        boolean mayPass() {
            return true;
        }
    }
}
