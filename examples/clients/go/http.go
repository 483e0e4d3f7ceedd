package yield

import (
	"bytes"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Timeout is how long an answer is waited for: a transfer may take a minute.
const Timeout = 90 * time.Second

// Settings are those of one partner application.
type Settings struct {
	BaseURL, AuthURL, ClientID, ClientSecret, Scope string
	Audience, Issuer, KeyID, PrivateKeyPEM          string
	// Attempts is how often a request is sent that gets no final answer. Default: 12, which is about 35 s of pauses.
	Attempts int
}

type Client struct {
	settings Settings
	key      *rsa.PrivateKey
	http     *http.Client
	mutex    sync.Mutex
	told     map[string]bool // hashes of transfers that callers know of
	users    map[string]userToken
	tokens   sync.Mutex // held while a token is fetched: those who ask at the same time share the request
	idpToken string
	staleAt  time.Time
}

func New(settings Settings) (*Client, error) {
	block, _ := pem.Decode([]byte(settings.PrivateKeyPEM))
	if block == nil {
		return nil, errors.New("PrivateKeyPEM is no PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("PrivateKeyPEM: %w", err)
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok || key.Size() < 256 {
		return nil, errors.New("PrivateKeyPEM is no RSA key of 2048 bits or more")
	}
	if settings.Attempts == 0 {
		settings.Attempts = 12
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // tokens follow no redirect
	return &Client{settings: settings, key: key, told: map[string]bool{}, users: map[string]userToken{},
		http: &http.Client{Timeout: Timeout, CheckRedirect: stay}}, nil
}

// APIError is an answer of the service that is an error. Programs go by Code.
type APIError struct {
	Status                  int
	Code, Detail, RequestID string
	retryAfter              string
}

func (e *APIError) Error() string {
	return fmt.Sprintf("%d %s: %s (request %s)", e.Status, e.Code, e.Detail, e.RequestID)
}

type request struct {
	method, path string
	user         string // whose user token it takes; pools and the creation of end users take none
	key          string // Idempotency-Key: the same for all retries
	body         any
}

// send tries until there is a final answer. Retries keep the key: whatever became of the first request, it happens once. A refusal such as 401
// says nothing of an earlier attempt that was lost: only 422 is the outcome of a key.
func (c *Client) send(ctx context.Context, r request, answer any) error {
	for attempt := 0; ; attempt++ {
		err := c.sendWithTokens(ctx, r, answer)
		var refusal *APIError
		if attempt > 0 && r.key != "" && errors.As(err, &refusal) && !mayPass(err) && refusal.Status != 422 {
			return &OutcomeUnknown{Key: r.key, Cause: err}
		}
		if err == nil || !mayPass(err) || attempt+1 >= c.settings.Attempts {
			return err
		}
		if sleep(ctx, pauseAfter(err, attempt)) != nil {
			return err
		}
	}
}

// sendWithTokens renews a token that is refused once, and repeats the request as it was.
func (c *Client) sendWithTokens(ctx context.Context, r request, answer any) error {
	idpToken, err := c.getIDPToken(ctx, "")
	if err != nil {
		return err
	}
	err = c.exchange(ctx, r, idpToken, c.getUserToken(r.user, false), answer)
	var refusal *APIError
	if !errors.As(err, &refusal) {
		return err
	}
	switch {
	case refusal.Code == "invalid_idp_token":
		if idpToken, err = c.getIDPToken(ctx, idpToken); err != nil {
			return err
		}
		return c.exchange(ctx, r, idpToken, c.getUserToken(r.user, false), answer)
	case refusal.Code == "invalid_user_token" && r.user != "":
		return c.exchange(ctx, r, idpToken, c.getUserToken(r.user, true), answer)
	}
	return err
}

func (c *Client) exchange(ctx context.Context, r request, idpToken, userToken string, answer any) error {
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	message, err := http.NewRequestWithContext(ctx, r.method, c.settings.BaseURL+"/v1/partner/"+r.path, body)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + idpToken, "X-User-Token": userToken, "Idempotency-Key": r.key} {
		if value != "" {
			message.Header.Set(name, value)
		}
	}
	if r.body != nil {
		message.Header.Set("Content-Type", "application/json")
	}
	return c.read(message, answer)
}

// read returns an *APIError for an answer that is an error; any other error means that no answer could be read.
func (c *Client) read(message *http.Request, answer any) error {
	response, err := c.http.Do(message)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body) // fails when the body was cut
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		var fields struct{ Code, Error, Detail string }
		_ = json.Unmarshal(text, &fields) // a proxy's page has none of them
		return &APIError{Status: response.StatusCode, Code: fields.Code + fields.Error, Detail: fields.Detail,
			RequestID: response.Header.Get("X-Service-Request-Id"), retryAfter: response.Header.Get("Retry-After")}
	}
	return json.Unmarshal(text, answer)
}

// mayPass says whether the failure is nothing final about what was asked for. Without an answer, it may have happened.
func mayPass(err error) bool {
	var refusal *APIError
	if !errors.As(err, &refusal) {
		return true
	}
	switch refusal.Status {
	case 408, 429, 500, 502, 503, 504:
		return true
	}
	return refusal.Code == "idempotency_key_in_progress"
}

// pauseAfter is what the service asks for (seconds or a date), else 0.25, 0.5, 1, 2, 4, 4, … s; chance keeps many clients apart.
func pauseAfter(err error, attempt int) time.Duration {
	var refusal *APIError
	if errors.As(err, &refusal) {
		asked := time.Duration(mathrand.Int63n(int64(100 * time.Millisecond)))
		if seconds, err := strconv.Atoi(refusal.retryAfter); err == nil {
			return asked + time.Duration(seconds)*time.Second
		}
		if date, err := http.ParseTime(refusal.retryAfter); err == nil {
			return asked + time.Until(date)
		}
	}
	pause := 4 * time.Second
	if attempt < 4 {
		pause = 250 * time.Millisecond << attempt
	}
	return time.Duration(float64(pause) * (0.75 + mathrand.Float64()/2))
}

// sleep fails when the caller wants no more.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
