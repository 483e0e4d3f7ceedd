package com.acme.portfolio;

import java.math.BigInteger;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * A client of the Yield Portfolio Partner API, with the JDK alone. Threads may share one. Answers may have more fields at any time: what
 * the records here do not name is ignored. Amounts are whole numbers of the token's minor units.
 */
public final class YieldClient {
    /** A transfer of unknown outcome is looked for in the list for a minute. */
    private static final int LOOKS = 30;
    private static final int LOOK_PAUSE_MS = 2000;

    private final Transport transport;
    /** Hashes of transfers that callers know of. A service keeps them in its database. */
    private final Set<String> told = ConcurrentHashMap.newKeySet();

    public YieldClient(Settings settings) {
        transport = new Transport(settings);
    }

    /** {@code marketAddress} is not the token's address. */
    public record Pool(String id, String protocol, String chainId, String tokenSymbol, String tokenAddress, String marketAddress) {
        private static Pool of(Map<String, Object> json) {
            return new Pool(text(json, "pool_id"), text(json, "protocol"), text(json, "chain_id"), text(json, "token_symbol"),
                    text(json, "token_address"), text(json, "market_address"));
        }
    }

    public record Portfolio(String id, String name, BigInteger totalBalance) {
        private static Portfolio of(Map<String, Object> json) {
            return new Portfolio(text(json, "portfolio_id"), text(json, "name"), new BigInteger(text(json, "total_balance")));
        }
    }

    /** Types other than deposit and withdrawal may come. */
    public record Transaction(String id, String txHash, String portfolioId, String type, BigInteger amountChanged) {
        private static Transaction of(Map<String, Object> json) {
            return new Transaction(text(json, "id"), text(json, "tx_hash"), text(json, "portfolio_id"), text(json, "type"),
                    new BigInteger(text(json, "amount_changed")));
        }
    }

    public List<Pool> pools(int limit) {
        return list("pools", null, limit, Pool::of, Pool::id);
    }

    public void createEndUser(String externalId) {
        transport.send("POST", "end_users", null, null, Map.of("external_id", externalId));
    }

    /** Returns its id. */
    public String createPortfolio(String user, Pool pool, String name, UUID key) {
        Map<String, String> body = Map.of("name", name, "chain_id", pool.chainId(), "token_address", pool.tokenAddress(),
                "market_address", pool.marketAddress(), "protocol", pool.protocol());
        return text(transport.send("POST", path(user, "portfolios"), user, key, body), "portfolio_id");
    }

    public List<Portfolio> portfolios(String user, int limit) {
        return list(path(user, "portfolios"), user, limit, Portfolio::of, Portfolio::id);
    }

    /**
     * Returns its tx_hash when it is confirmed. Throws Refused when it was refused, OutcomeUnknown when nobody can say. {@code key}: one
     * UUID.randomUUID() for each operation, the same whenever it is repeated.
     */
    public String deposit(String user, String portfolioId, BigInteger amount, UUID key) {
        return transfer("deposit", user, portfolioId, amount, key);
    }

    /** As {@link #deposit}. */
    public String withdraw(String user, String portfolioId, BigInteger amount, UUID key) {
        return transfer("withdraw", user, portfolioId, amount, key);
    }

    /** Newest first. */
    public List<Transaction> transactions(String user, int limit) {
        return list(path(user, "transactions"), user, limit, Transaction::of, Transaction::id);
    }

    private String transfer(String kind, String user, String portfolioId, BigInteger amount, UUID key) {
        try {
            Map<String, String> body = Map.of("portfolio_id", portfolioId, "amount_minor", amount.toString());
            String txHash = text(transport.send("POST", path(user, kind), user, key, body), "tx_hash");
            told.add(txHash);
            return txHash;
        } catch (YieldException.Refused | YieldException.NoAnswer e) {
            if (!e.mayPass()) throw e;
            return lookUp(kind, user, portfolioId, amount).orElseThrow(() -> new YieldException.OutcomeUnknown(key, e));
        }
    }

    /** A transfer like this one that no answer told of. It is listed once it is confirmed: not there yet does not mean never. */
    private Optional<String> lookUp(String kind, String user, String portfolioId, BigInteger amount) {
        for (int look = 0; look < LOOKS; look++) {
            if (look > 0 && !Transport.sleep(LOOK_PAUSE_MS)) return Optional.empty();
            try {
                for (Map<String, Object> one : items(page(path(user, "transactions"), user, 100, null))) {
                    boolean like = text(one, "portfolio_id").equals(portfolioId) && text(one, "type").startsWith(kind)
                            && text(one, "amount_changed").equals(amount.toString());
                    if (like && told.add(text(one, "tx_hash"))) return Optional.of(text(one, "tx_hash"));
                }
            } catch (YieldException e) {
                if (!e.mayPass()) break;
            }
        }
        return Optional.empty();
    }

    /** Every item once, page by page; from the first page again when the cursor has expired. Cursors are passed on as they came. */
    private <T> List<T> list(String path, String user, int limit, Function<Map<String, Object>, T> of, Function<T, String> id) {
        List<T> all = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        String cursor = null;
        int restarts = 0;
        do {
            Map<String, Object> page;
            try {
                page = page(path, user, limit, cursor);
            } catch (YieldException.Refused e) {
                if (!e.code.equals("cursor_expired") || ++restarts > 3) throw e;
                page = page(path, user, limit, null);
            }
            for (Map<String, Object> json : items(page)) {
                T item = of.apply(json);
                if (seen.add(id.apply(item))) all.add(item);
            }
            cursor = text(page, "next_cursor");
        } while (cursor != null);
        return all;
    }

    private Map<String, Object> page(String path, String user, int limit, String cursor) {
        String query = "?limit=" + limit + (cursor == null ? "" : "&starting_after=" + encode(cursor));
        return transport.send("GET", path + query, user, null, null);
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> items(Map<String, Object> page) {
        return (List<Map<String, Object>>) page.get("data");
    }

    private static String text(Map<String, Object> json, String name) {
        return (String) json.get(name);
    }

    private static String path(String user, String rest) {
        return "end_users/" + encode(user) + "/" + rest;
    }

    private static String encode(String part) {
        return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
