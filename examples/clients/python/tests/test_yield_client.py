import pytest
from yield_client import ApiError, OutcomeUnknown


def test_a_deposit_is_listed_once(sandbox, saver):
    transfer = sandbox.client.deposit(*saver, 250_000_000)
    listed = [(one["tx_hash"], one["amount_changed"]) for one in sandbox.client.transactions(saver[0], limit=1)]
    assert listed == [(transfer["tx_hash"], "250000000")]


def test_a_dropped_answer_moves_money_once(sandbox, saver):
    match = {"operation": "deposit", "external_id": saver[0]}
    sandbox.fault(kind="drop_connection", phase="after_broadcast", match=match)
    transfer = sandbox.client.deposit(*saver, 5_000_000)
    assert [one["tx_hash"] for one in sandbox.client.transactions(saver[0])] == [transfer["tx_hash"]]


def test_a_retry_that_is_refused_after_a_lost_answer_names_the_key(sandbox, saver):
    match = {"operation": "deposit", "external_id": saver[0]}
    sandbox.fault(kind="drop_connection", phase="after_broadcast", match=match)
    sandbox.fault(kind="error", match=match, **{"with": {"code": "unknown_partner"}})
    with pytest.raises(OutcomeUnknown) as unknown:
        sandbox.client.deposit(*saver, 7_000_000)
    transfer = sandbox.client.deposit(*saver, 7_000_000, key=unknown.value.key)
    assert [one["tx_hash"] for one in sandbox.client.transactions(saver[0])] == [transfer["tx_hash"]]


def test_more_than_there_is_cannot_be_withdrawn(sandbox, saver):
    with pytest.raises(ApiError) as refusal:
        sandbox.client.withdraw(*saver, 1)
    assert refusal.value.code.startswith("insufficient_balance")
