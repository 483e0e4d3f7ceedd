package com.acme.portfolio;

import com.acme.portfolio.YieldClient.Pool;
import com.acme.portfolio.YieldClient.Portfolio;
import com.acme.portfolio.YieldClient.Transaction;
import com.acme.portfolio.YieldException.Refused;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;

/**
 * A small suite: moves some money of one end user and checks that every unit is where it should be.
 *
 * <pre>
 * javac -d /tmp/demo examples/clients/java/src/main/java/com/acme/portfolio/*.java
 * yield-sandbox exec --scenario dropped-deposit -- java -cp /tmp/demo com.acme.portfolio.Demo
 * </pre>
 */
final class Demo {
    private static int failures;

    public static void main(String[] args) throws InterruptedException {
        YieldClient client = new YieldClient(Settings.of(System::getenv));
        String user = env("YIELD_EXTERNAL_ID", "demo-" + UUID.randomUUID());

        Pool pool = client.pools(2).stream().filter(one -> one.tokenSymbol().equals("USDC")).findFirst().orElseThrow();
        client.createEndUser(user);
        String portfolioId = client.createPortfolio(user, pool, "Rainy day", UUID.randomUUID());

        Map<String, BigInteger> expected = new HashMap<>();
        for (BigInteger amount : List.of(usdc(250), usdc(100), usdc(50))) {
            expected.put(newAttemptWhenReverted(key -> client.deposit(user, portfolioId, amount, key)), amount);
        }
        expected.put(newAttemptWhenReverted(key -> client.withdraw(user, portfolioId, usdc(120), key)), usdc(-120));

        String refusal = "none";
        try {
            client.withdraw(user, portfolioId, usdc(1_000_000_000), UUID.randomUUID());
        } catch (Refused e) {
            refusal = e.code;
        }
        check("more than there is cannot be withdrawn", refusal.startsWith("insufficient_balance"));

        // Long enough for an access token of a minute to become too old.
        Thread.sleep((long) (1000 * Double.parseDouble(env("DEMO_PAUSE", "3"))));
        List<Portfolio> portfolios = client.portfolios(user, 1).stream().filter(one -> one.id().equals(portfolioId)).toList();
        List<Transaction> moved = client.transactions(user, 2).stream().filter(one -> one.portfolioId().equals(portfolioId)).toList();
        check("every transfer is listed once", moved.size() == expected.size());
        check("every amount is right", moved.stream().allMatch(one ->
                one.amountChanged().equals(expected.getOrDefault(one.txHash(), BigInteger.ZERO).abs())));
        BigInteger sum = expected.values().stream().reduce(BigInteger.ZERO, BigInteger::add);
        // Yield adds to it; the market rounds by a unit or two.
        check("the balance is their sum", portfolios.size() == 1
                && portfolios.get(0).totalBalance().compareTo(sum.subtract(BigInteger.valueOf(5))) >= 0);

        client.createEndUser(user + "-neighbour");
        check("a neighbour has none of it", client.transactions(user + "-neighbour", 100).isEmpty());
        System.exit(failures == 0 ? 0 : 1);
    }

    /** What a person would do who was told that it failed: try anew, which takes a fresh key. */
    private static String newAttemptWhenReverted(Function<UUID, String> transfer) {
        try {
            return transfer.apply(UUID.randomUUID());
        } catch (Refused e) {
            if (!e.code.equals("transaction_reverted")) throw e;
            return transfer.apply(UUID.randomUUID());
        }
    }

    private static void check(String what, boolean holds) {
        System.out.println((holds ? "ok: " : "NOT OK: ") + what);
        if (!holds) failures++;
    }

    private static BigInteger usdc(long whole) {
        return BigInteger.valueOf(whole).multiply(BigInteger.valueOf(1_000_000));
    }

    private static String env(String name, String otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }
}
