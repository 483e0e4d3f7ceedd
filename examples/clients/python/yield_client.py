"""A client of the Yield Portfolio Partner API. Needs requests and PyJWT with cryptography
(Debian: python3-requests, python3-jwt). One client may be shared by threads."""

import email.utils
import random
import threading
import time
import uuid
from urllib.parse import quote

import jwt
import requests

PASSING = {408, 429, 500, 502, 503, 504}  # the same request may succeed later; others are final
TIMEOUT = (10, 90)  # seconds to connect, and to wait for an answer: a transfer may take a minute
LOOKS, LOOK_PAUSE = 30, 2  # a transfer of unknown outcome is looked for in the list for a minute


class ApiError(Exception):
    """The service answered, and the answer is an error. Programs go by `code`."""

    def __init__(self, response, code, detail):
        self.status, self.code = response.status_code, code
        self.request_id = response.headers.get("X-Service-Request-Id")
        self.retry_after = _seconds(response.headers.get("Retry-After"))
        super().__init__(f"{self.status} {code}: {detail} (request {self.request_id})")


class NoAnswer(Exception):
    """The connection broke, time ran out, or the body was cut. What was asked for may have happened."""


class OutcomeUnknown(Exception):
    """What was asked for may have happened: no retry and no look-up could say. Repeat the same request under `key`, until it succeeds or
    is refused with 422; never under a fresh one."""

    def __init__(self, key):
        self.key = key
        super().__init__(f"the outcome is unknown; repeat the same request with Idempotency-Key {key}")


class YieldClient:
    def __init__(self, *, base_url, auth_url, client_id, client_secret, scope, audience, issuer, key_id,
                 private_key_pem, attempts=12):
        self._base = f"{base_url}/v1/partner/"
        self._auth_url, self._attempts = auth_url, attempts
        self._form = {"grant_type": "client_credentials", "client_id": client_id,
                      "client_secret": client_secret, "scope": scope}
        self._issuer, self._audience, self._key_id, self._pem = issuer, audience, key_id, private_key_pem
        self._http = requests.Session()  # keeps connections open
        self._lock = threading.Lock()
        self._idp_token, self._stale_at = None, 0.0
        self._user_tokens = {}
        self._told = set()  # hashes of transfers whose answers came; a service keeps them in its database

    def pools(self, limit=100):
        return self._list("pools", None, limit, "pool_id")

    def create_end_user(self, external_id):
        return self.send("POST", "end_users", body={"external_id": external_id})

    def create_portfolio(self, user, pool, name, key=None):
        """`pool` as the list shows it: market_address is not the token's address."""
        names = ("chain_id", "token_address", "market_address", "protocol")
        body = {"name": name, **{field: pool[field] for field in names}}
        return self.send("POST", f"{_path(user)}/portfolios", user, key=key or str(uuid.uuid4()), body=body)

    def portfolios(self, user, limit=100):
        return self._list(f"{_path(user)}/portfolios", user, limit, "portfolio_id")

    def deposit(self, user, portfolio_id, amount, key=None):
        """Returns when it is confirmed. `amount`: an int in the token's minor units."""
        return self._transfer("deposit", user, portfolio_id, amount, key or str(uuid.uuid4()))

    def withdraw(self, user, portfolio_id, amount, key=None):
        return self._transfer("withdraw", user, portfolio_id, amount, key or str(uuid.uuid4()))

    def transactions(self, user, limit=100):
        """Newest first."""
        return self._list(f"{_path(user)}/transactions", user, limit, "id")

    def _transfer(self, kind, user, portfolio_id, amount, key):
        body = {"portfolio_id": portfolio_id, "amount_minor": str(amount)}
        try:
            transfer = self.send("POST", f"{_path(user)}/{kind}", user, key=key, body=body)
        except (ApiError, NoAnswer) as error:
            if not _may_pass(error):
                raise
            try:
                transfer = self._look_up(kind, user, portfolio_id, amount)
            except (ApiError, NoAnswer) as failure:
                raise OutcomeUnknown(key) from failure
            if transfer is None:
                raise OutcomeUnknown(key) from error
        self._told.add(transfer["tx_hash"])
        return transfer

    def _look_up(self, kind, user, portfolio_id, amount):
        """It is listed once it is confirmed: not there yet does not mean never."""
        for look in range(LOOKS):
            time.sleep(LOOK_PAUSE if look else 0)
            for one in self._page(f"{_path(user)}/transactions", user, 100, None)["data"]:
                if (one["portfolio_id"] == portfolio_id and one["type"].startswith(kind)
                        and one["amount_changed"] == str(amount) and one["tx_hash"] not in self._told):
                    return one
        return None

    def _list(self, path, user, limit, id_field):
        """Every item once, page by page; from the first page again when the cursor has expired."""
        seen, cursor, restarts = set(), None, 0
        while True:
            try:
                page = self._page(path, user, limit, cursor)
            except ApiError as error:
                restarts += 1
                if error.code != "cursor_expired" or restarts > 3:
                    raise
                page = self._page(path, user, limit, None)
            for item in page["data"]:
                if item[id_field] not in seen:
                    yield item
                seen.add(item[id_field])
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _page(self, path, user, limit, cursor):
        query = {"limit": limit, **({"starting_after": cursor} if cursor is not None else {})}
        return self.send("GET", path, user, query=query)

    def send(self, method, path, user=None, *, query=None, key=None, body=None):
        """Retries keep the key: whatever became of the first request, it happens once."""
        def once():
            idp_token = self._get_idp_token()
            user_token = None if user is None else self._get_user_token(user)
            try:
                return self._exchange(method, path, query, key, body, idp_token, user_token)
            except ApiError as error:  # a token that is refused is renewed once
                if error.code == "invalid_idp_token":
                    idp_token = self._get_idp_token(refused=idp_token)
                elif error.code == "invalid_user_token" and user is not None:
                    user_token = self._get_user_token(user, renew=True)
                else:
                    raise
                return self._exchange(method, path, query, key, body, idp_token, user_token)
        return _with_retries(self._attempts, once, key)

    def _exchange(self, method, path, query, key, body, idp_token, user_token):
        headers = {"Authorization": f"Bearer {idp_token}"}
        if user_token is not None:
            headers["X-User-Token"] = user_token
        if key is not None:
            headers["Idempotency-Key"] = key
        return self._answer(lambda: self._http.request(
            method, self._base + path, params=query, headers=headers, json=body, timeout=TIMEOUT,
            allow_redirects=False))

    def _answer(self, request):
        try:
            response = request()
        except requests.RequestException as error:
            raise NoAnswer(str(error)) from error
        # requests before 2.32 takes a body that was cut for a whole one, and the code of an error would be gone.
        length = response.headers.get("Content-Length")
        if length is not None and response.raw.tell() < int(length):
            raise NoAnswer("half of an answer")
        try:
            answer = response.json()
        except ValueError:  # a proxy's page, half of a body
            answer = None
        if not response.ok:
            fields = answer if isinstance(answer, dict) else {}
            raise ApiError(response, fields.get("code") or fields.get("error"), fields.get("detail", response.reason))
        if not isinstance(answer, dict):
            raise NoAnswer("an answer that cannot be read")
        return answer

    def _get_idp_token(self, refused=None):
        """Cached until 60 seconds before it expires; threads share one request for it."""
        with self._lock:
            if self._idp_token is None or self._idp_token == refused or time.monotonic() >= self._stale_at:
                asked = time.monotonic()
                answer = _with_retries(self._attempts, lambda: self._answer(
                    lambda: self._http.post(self._auth_url, data=self._form, timeout=TIMEOUT)))
                self._idp_token, self._stale_at = answer["access_token"], asked + int(answer["expires_in"]) - 60
            return self._idp_token

    def _get_user_token(self, user, renew=False):
        """Signed with the partner's key, kept until five minutes before its hour is over."""
        now = int(time.time())
        token, exp = self._user_tokens.get(user, (None, 0))
        if renew or exp - 300 <= now:
            claims = {"sub": user, "iss": self._issuer, "aud": self._audience, "iat": now, "exp": now + 3600,
                      "jti": str(uuid.uuid4())}
            token = jwt.encode(claims, self._pem, algorithm="RS256", headers={"kid": self._key_id, "typ": "JWT"})
            self._user_tokens[user] = (token, now + 3600)
        return token


def _with_retries(attempts, action, key=None):
    """A refusal such as 401 says nothing of an earlier attempt that was lost: only 422 is the outcome of a key."""
    for attempt in range(attempts):
        try:
            return action()
        except (ApiError, NoAnswer) as error:
            final = not _may_pass(error)
            if final and attempt > 0 and key is not None and error.status != 422:
                raise OutcomeUnknown(key) from error
            if final or attempt + 1 == attempts:
                raise
            asked = getattr(error, "retry_after", None)
            pause = min(4, 0.25 * 2 ** attempt) if asked is None else asked
            time.sleep(pause * random.uniform(0.75, 1.25) if asked is None else pause + random.uniform(0, 0.1))


def _may_pass(error):
    return isinstance(error, NoAnswer) or error.status in PASSING or error.code == "idempotency_key_in_progress"


def _seconds(retry_after):
    """Retry-After has seconds or a date (RFC 9110 section 10.2.3)."""
    if retry_after is None or retry_after.isdigit():
        return None if retry_after is None else int(retry_after)
    try:
        return max(0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _path(user):
    return f"end_users/{quote(user, safe='')}"
