// Package yield is a client of the Yield Portfolio Partner API, with the standard library alone. Goroutines may share a Client.
package yield

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A transfer of unknown outcome is looked for in the list for a minute.
const (
	looks     = 30
	lookPause = 2 * time.Second
)

// Answers may have more fields at any time: what is not named here is ignored.
// Amounts are digits in the token's minor units, and never become floating-point numbers.

// Pool is an entry of the list of pools. MarketAddress is not the token's address.
type Pool struct {
	ID            string `json:"pool_id"`
	Protocol      string `json:"protocol"`
	ChainID       string `json:"chain_id"`
	TokenSymbol   string `json:"token_symbol"`
	TokenAddress  string `json:"token_address"`
	MarketAddress string `json:"market_address"`
}

// Portfolio is an end user's position in a pool.
type Portfolio struct {
	ID           string `json:"portfolio_id"`
	Name         string `json:"name"`
	TotalBalance string `json:"total_balance"`
}

// Transfer is a confirmed deposit or withdrawal.
type Transfer struct {
	TxHash string `json:"tx_hash"`
}

// Transaction is an entry of an end user's history. Types other than deposit and withdrawal may come.
type Transaction struct {
	ID            string `json:"id"`
	TxHash        string `json:"tx_hash"`
	PortfolioID   string `json:"portfolio_id"`
	Type          string `json:"type"`
	AmountChanged string `json:"amount_changed"`
}

// OutcomeUnknown says that what was asked for may have happened: no retry and no look-up could say. Repeat the same request under Key, until it
// succeeds or is refused with 422; never under a fresh one.
type OutcomeUnknown struct {
	Key   string
	Cause error
}

func (e *OutcomeUnknown) Error() string {
	return fmt.Sprintf("the outcome is unknown; repeat the same request with Idempotency-Key %s: %v", e.Key, e.Cause)
}

func (e *OutcomeUnknown) Unwrap() error { return e.Cause }

// NewKey returns an Idempotency-Key, a UUID v4: one for each operation, the same for all of its retries.
func NewKey() string {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // the system has no randomness
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (c *Client) Pools(ctx context.Context, limit int) ([]Pool, error) {
	return list(ctx, c, "pools", "", limit, func(p Pool) string { return p.ID })
}

func (c *Client) CreateEndUser(ctx context.Context, externalID string) error {
	return c.send(ctx, request{method: "POST", path: "end_users", body: map[string]string{"external_id": externalID}}, &struct{}{})
}

func (c *Client) CreatePortfolio(ctx context.Context, user string, pool Pool, name, key string) (created Portfolio, err error) {
	body := map[string]string{"name": name, "chain_id": pool.ChainID, "token_address": pool.TokenAddress,
		"market_address": pool.MarketAddress, "protocol": pool.Protocol}
	err = c.send(ctx, request{method: "POST", path: pathOf(user, "portfolios"), user: user, key: key, body: body}, &created)
	return created, err
}

func (c *Client) Portfolios(ctx context.Context, user string, limit int) ([]Portfolio, error) {
	return list(ctx, c, pathOf(user, "portfolios"), user, limit, func(p Portfolio) string { return p.ID })
}

// Deposit returns when it is confirmed. Its error is an *APIError when it was refused, *OutcomeUnknown when nobody can say.
func (c *Client) Deposit(ctx context.Context, user, portfolioID string, amount *big.Int, key string) (Transfer, error) {
	return c.transfer(ctx, "deposit", user, portfolioID, amount, key)
}

// Withdraw is as Deposit.
func (c *Client) Withdraw(ctx context.Context, user, portfolioID string, amount *big.Int, key string) (Transfer, error) {
	return c.transfer(ctx, "withdraw", user, portfolioID, amount, key)
}

// Transactions are listed newest first.
func (c *Client) Transactions(ctx context.Context, user string, limit int) ([]Transaction, error) {
	return list(ctx, c, pathOf(user, "transactions"), user, limit, func(t Transaction) string { return t.ID })
}

func (c *Client) transfer(ctx context.Context, kind, user, portfolioID string, amount *big.Int, key string) (done Transfer, err error) {
	body := map[string]string{"portfolio_id": portfolioID, "amount_minor": amount.String()}
	err = c.send(ctx, request{method: "POST", path: pathOf(user, kind), user: user, key: key, body: body}, &done)
	if err == nil {
		c.tell(done.TxHash)
		return done, nil
	}
	if !mayPass(err) {
		return done, err
	}
	for look := 0; look < looks && (look == 0 || sleep(ctx, lookPause) == nil); look++ {
		hash, failure := c.find(ctx, kind, user, portfolioID, amount.String())
		if hash != "" {
			return Transfer{TxHash: hash}, nil
		}
		if failure != nil && !mayPass(failure) {
			break
		}
	}
	return done, &OutcomeUnknown{Key: key, Cause: err}
}

// find returns the hash of a transfer like this one that no answer told of. It is listed once it is confirmed: not there yet does not mean never.
func (c *Client) find(ctx context.Context, kind, user, portfolioID, amount string) (string, error) {
	newest, err := getPage[Transaction](ctx, c, pathOf(user, "transactions"), user, 100, nil)
	if err != nil {
		return "", err
	}
	for _, one := range newest.Data {
		like := one.PortfolioID == portfolioID && strings.HasPrefix(one.Type, kind) && one.AmountChanged == amount
		if like && c.tell(one.TxHash) {
			return one.TxHash, nil
		}
	}
	return "", nil
}

// tell remembers that the caller was told of a transfer; false if that was so already. A service keeps these in its database.
func (c *Client) tell(txHash string) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	fresh := !c.told[txHash]
	c.told[txHash] = true
	return fresh
}

type page[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

// list returns every item once, page by page; from the first page again when the cursor has expired.
func list[T any](ctx context.Context, c *Client, path, user string, limit int, id func(T) string) ([]T, error) {
	var all []T
	var cursor *string
	seen := map[string]bool{}
	for restarts := 0; ; {
		one, err := getPage[T](ctx, c, path, user, limit, cursor)
		var refusal *APIError
		if errors.As(err, &refusal) && refusal.Code == "cursor_expired" && restarts < 3 {
			cursor, restarts = nil, restarts+1
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, item := range one.Data {
			if !seen[id(item)] {
				all = append(all, item)
			}
			seen[id(item)] = true
		}
		if cursor = one.NextCursor; cursor == nil {
			return all, nil
		}
	}
}

// getPage passes the cursor on as it came.
func getPage[T any](ctx context.Context, c *Client, path, user string, limit int, cursor *string) (one page[T], err error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if cursor != nil {
		query.Set("starting_after", *cursor)
	}
	err = c.send(ctx, request{method: "GET", path: path + "?" + query.Encode(), user: user}, &one)
	return one, err
}

func pathOf(user, rest string) string { return "end_users/" + url.PathEscape(user) + "/" + rest }
