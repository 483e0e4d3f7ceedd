package yield

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"os"
	"strings"
	"testing"
)

// connection is what yield-sandbox exec puts into the environment, or a namespace of a sandbox that runs already.
type connection struct {
	settings   Settings
	controlURL string
}

type credentials struct {
	BaseURL    string `json:"base_url"`
	AuthURL    string `json:"auth_url"`
	ControlURL string `json:"control_url"`
	Audience   string `json:"audience"`
	Scope      string `json:"scope"`
	Tenants    []struct {
		ClientID      string `json:"client_id"`
		ClientSecret  string `json:"client_secret"`
		Issuer        string `json:"issuer"`
		KeyID         string `json:"kid"`
		PrivateKeyPEM string `json:"private_key_pem"`
	} `json:"tenants"`
}

// connect gives each test a world of its own by one call; it is gone when the test is over. Under exec and explore, which give one already,
// that is taken: requests elsewhere would not be judged.
func connect(t *testing.T) connection {
	t.Helper()
	env := os.Getenv
	control := env("YIELD_CONTROL_URL")
	if env("YIELD_CLIENT_ID") != "" {
		return connection{Settings{BaseURL: env("YIELD_BASE_URL"), AuthURL: env("YIELD_AUTH_URL"), ClientID: env("YIELD_CLIENT_ID"),
			ClientSecret: env("YIELD_CLIENT_SECRET"), Scope: env("YIELD_SCOPE"), Audience: env("YIELD_AUDIENCE"), Issuer: env("YIELD_ISSUER"),
			KeyID: env("YIELD_KEY_ID"), PrivateKeyPEM: env("YIELD_PRIVATE_KEY_PEM")}, control}
	}
	if control == "" {
		control = "http://127.0.0.1:4010/_sandbox"
	}
	var made credentials
	ask(t, "POST", control+"/namespaces", map[string]string{"confirmation_delay": "0"}, &made)
	t.Cleanup(func() { ask(t, "DELETE", made.ControlURL, nil, nil) })
	acme := made.Tenants[0]
	return connection{Settings{BaseURL: made.BaseURL, AuthURL: made.AuthURL, ClientID: acme.ClientID, ClientSecret: acme.ClientSecret,
		Scope: made.Scope, Audience: made.Audience, Issuer: acme.Issuer, KeyID: acme.KeyID, PrivateKeyPEM: acme.PrivateKeyPEM}, made.ControlURL}
}

// ask sends a request to the control interface.
func ask(t *testing.T, method, url string, body, answer any) {
	t.Helper()
	text, _ := json.Marshal(body)
	request := must(http.NewRequest(method, url, bytes.NewReader(text)))(t)
	request.Header.Set("Content-Type", "application/json")
	if token := os.Getenv("YIELD_SANDBOX_CONTROL_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response := must(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", method, url, response.Status)
	}
	if answer != nil {
		must(0, json.NewDecoder(response.Body).Decode(answer))(t)
	}
}

// must ends the test at an error.
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// opened is a client with a portfolio of a new end user.
func opened(t *testing.T, to connection) (client *Client, user, portfolioID string) {
	t.Helper()
	ctx := context.Background()
	client, user = must(New(to.settings))(t), "saver-"+NewKey()
	must(0, client.CreateEndUser(ctx, user))(t)
	for _, pool := range must(client.Pools(ctx, 100))(t) {
		if pool.TokenSymbol == "USDC" {
			return client, user, must(client.CreatePortfolio(ctx, user, pool, "Rainy day", NewKey()))(t).ID
		}
	}
	t.Fatal("there is no pool of USDC")
	return
}

func TestDepositIsListedOnce(t *testing.T) {
	ctx := context.Background()
	client, user, portfolioID := opened(t, connect(t))
	done := must(client.Deposit(ctx, user, portfolioID, big.NewInt(250_000_000), NewKey()))(t)
	listed := must(client.Transactions(ctx, user, 1))(t)
	if len(listed) != 1 || listed[0].TxHash != done.TxHash || listed[0].AmountChanged != "250000000" {
		t.Errorf("the deposit %s is listed as %v", done.TxHash, listed)
	}
}

func TestDroppedAnswerMovesMoneyOnce(t *testing.T) {
	ctx := context.Background()
	to := connect(t)
	client, user, portfolioID := opened(t, to)
	match := map[string]string{"operation": "deposit", "external_id": user}
	ask(t, "POST", to.controlURL+"/faults", map[string]any{"kind": "drop_connection", "phase": "after_broadcast", "match": match}, nil)
	done := must(client.Deposit(ctx, user, portfolioID, big.NewInt(5_000_000), NewKey()))(t)
	listed := must(client.Transactions(ctx, user, 100))(t)
	if len(listed) != 1 || listed[0].TxHash != done.TxHash {
		t.Errorf("the deposit %s is listed as %v", done.TxHash, listed)
	}
}

func TestRetryThatIsRefusedAfterALostAnswerNamesTheKey(t *testing.T) {
	ctx := context.Background()
	to := connect(t)
	client, user, portfolioID := opened(t, to)
	match := map[string]string{"operation": "deposit", "external_id": user}
	ask(t, "POST", to.controlURL+"/faults", map[string]any{"kind": "drop_connection", "phase": "after_broadcast", "match": match}, nil)
	ask(t, "POST", to.controlURL+"/faults", map[string]any{"kind": "error", "match": match, "with": map[string]string{"code": "unknown_partner"}}, nil)
	_, err := client.Deposit(ctx, user, portfolioID, big.NewInt(7_000_000), NewKey())
	var unknown *OutcomeUnknown
	if !errors.As(err, &unknown) {
		t.Fatalf("the deposit ends with %v", err)
	}
	done := must(client.Deposit(ctx, user, portfolioID, big.NewInt(7_000_000), unknown.Key))(t)
	listed := must(client.Transactions(ctx, user, 100))(t)
	if len(listed) != 1 || listed[0].TxHash != done.TxHash {
		t.Errorf("the deposit %s is listed as %v", done.TxHash, listed)
	}
}

func TestMoreThanThereIsCannotBeWithdrawn(t *testing.T) {
	client, user, portfolioID := opened(t, connect(t))
	_, err := client.Withdraw(context.Background(), user, portfolioID, big.NewInt(1), NewKey())
	var refusal *APIError
	if !errors.As(err, &refusal) || !strings.HasPrefix(refusal.Code, "insufficient_balance") {
		t.Errorf("the service answers %v", err)
	}
}
