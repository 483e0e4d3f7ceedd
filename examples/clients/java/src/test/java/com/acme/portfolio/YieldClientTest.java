package com.acme.portfolio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.acme.portfolio.YieldClient.Pool;
import com.acme.portfolio.YieldClient.Transaction;
import java.math.BigInteger;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class YieldClientTest {
    private final String user = "saver-" + UUID.randomUUID();
    private Sandbox sandbox;
    private YieldClient client;
    private String portfolioId;

    @BeforeEach
    void open() throws Exception {
        sandbox = new Sandbox();
        client = sandbox.client();
        client.createEndUser(user);
        Pool pool = client.pools(100).stream().filter(one -> one.tokenSymbol().equals("USDC")).findFirst().orElseThrow();
        portfolioId = client.createPortfolio(user, pool, "Rainy day", UUID.randomUUID());
    }

    @AfterEach
    void close() throws Exception {
        sandbox.close();
    }

    @Test
    void aDepositIsListedOnce() {
        BigInteger amount = BigInteger.valueOf(250_000_000);
        String txHash = client.deposit(user, portfolioId, amount, UUID.randomUUID());
        List<Transaction> listed = client.transactions(user, 1);
        assertEquals(List.of(txHash), listed.stream().map(Transaction::txHash).toList());
        assertEquals(amount, listed.get(0).amountChanged());
    }

    @Test
    void aDroppedAnswerMovesMoneyOnce() throws Exception {
        sandbox.fault("""
                {"kind": "drop_connection", "phase": "after_broadcast", "match": {"operation": "deposit", "external_id": "%s"}}
                """.formatted(user));
        String txHash = client.deposit(user, portfolioId, BigInteger.valueOf(5_000_000), UUID.randomUUID());
        assertEquals(List.of(txHash), client.transactions(user, 100).stream().map(Transaction::txHash).toList());
    }

    @Test
    void aRetryThatIsRefusedAfterALostAnswerNamesTheKey() throws Exception {
        String match = "{\"operation\": \"deposit\", \"external_id\": \"%s\"}".formatted(user);
        sandbox.fault("{\"kind\": \"drop_connection\", \"phase\": \"after_broadcast\", \"match\": %s}".formatted(match));
        sandbox.fault("{\"kind\": \"error\", \"match\": %s, \"with\": {\"code\": \"unknown_partner\"}}".formatted(match));
        BigInteger amount = BigInteger.valueOf(7_000_000);
        YieldException.OutcomeUnknown unknown = assertThrows(YieldException.OutcomeUnknown.class,
                () -> client.deposit(user, portfolioId, amount, UUID.randomUUID()));
        String txHash = client.deposit(user, portfolioId, amount, unknown.key);
        assertEquals(List.of(txHash), client.transactions(user, 100).stream().map(Transaction::txHash).toList());
    }

    @Test
    void moreThanThereIsCannotBeWithdrawn() {
        YieldException.Refused refused = assertThrows(YieldException.Refused.class,
                () -> client.withdraw(user, portfolioId, BigInteger.ONE, UUID.randomUUID()));
        assertTrue(refused.code.startsWith("insufficient_balance"), refused.code);
    }
}
