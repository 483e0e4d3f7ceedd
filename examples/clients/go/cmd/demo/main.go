// A small suite: moves some money of one end user and checks that every unit is where it should be.
//
//	cd examples/clients/go && go build -o /tmp/demo ./cmd/demo
//	yield-sandbox exec --scenario dropped-deposit -- /tmp/demo
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/big"
	"os"
	"strconv"
	"strings"
	"time"

	"example.com/yield"
)

const whole = 1_000_000

var failures int

func check(what string, holds bool) {
	if holds {
		fmt.Println("ok:", what)
	} else {
		fmt.Println("NOT OK:", what)
		failures++
	}
}

// must ends the program at an error of which the suite knows nothing.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// newAttemptWhenReverted is what a person would do who was told that it failed: try anew, which takes a fresh key.
func newAttemptWhenReverted(transfer func(key string) (yield.Transfer, error)) string {
	done, err := transfer(yield.NewKey())
	var refusal *yield.APIError
	if errors.As(err, &refusal) && refusal.Code == "transaction_reverted" {
		done, err = transfer(yield.NewKey())
	}
	return must(done, err).TxHash
}

// settings are those that yield-sandbox exec puts into the environment.
func settings() yield.Settings {
	attempts, _ := strconv.Atoi(os.Getenv("DEMO_ATTEMPTS")) // unset: the default
	return yield.Settings{
		BaseURL: os.Getenv("YIELD_BASE_URL"), AuthURL: os.Getenv("YIELD_AUTH_URL"), Scope: os.Getenv("YIELD_SCOPE"),
		ClientID: os.Getenv("YIELD_CLIENT_ID"), ClientSecret: os.Getenv("YIELD_CLIENT_SECRET"),
		Audience: os.Getenv("YIELD_AUDIENCE"), Issuer: os.Getenv("YIELD_ISSUER"), KeyID: os.Getenv("YIELD_KEY_ID"),
		PrivateKeyPEM: os.Getenv("YIELD_PRIVATE_KEY_PEM"), Attempts: attempts,
	}
}

func main() {
	ctx := context.Background()
	client := must(yield.New(settings()))
	user := os.Getenv("YIELD_EXTERNAL_ID")
	if user == "" {
		user = "demo-" + yield.NewKey()
	}

	var pool yield.Pool
	for _, one := range must(client.Pools(ctx, 2)) {
		if one.TokenSymbol == "USDC" && pool.ID == "" {
			pool = one
		}
	}
	must(0, client.CreateEndUser(ctx, user))
	portfolio := must(client.CreatePortfolio(ctx, user, pool, "Rainy day", yield.NewKey()))

	expected, sum := map[string]int64{}, int64(-120*whole)
	for _, amount := range []int64{250 * whole, 100 * whole, 50 * whole} {
		hash := newAttemptWhenReverted(func(key string) (yield.Transfer, error) {
			return client.Deposit(ctx, user, portfolio.ID, big.NewInt(amount), key)
		})
		expected[hash], sum = amount, sum+amount
	}
	hash := newAttemptWhenReverted(func(key string) (yield.Transfer, error) {
		return client.Withdraw(ctx, user, portfolio.ID, big.NewInt(120*whole), key)
	})
	expected[hash] = 120 * whole

	_, err := client.Withdraw(ctx, user, portfolio.ID, big.NewInt(1e15), yield.NewKey())
	var refusal *yield.APIError
	check("more than there is cannot be withdrawn", errors.As(err, &refusal) && strings.HasPrefix(refusal.Code, "insufficient_balance"))

	pause, err := strconv.ParseFloat(os.Getenv("DEMO_PAUSE"), 64)
	if err != nil {
		pause = 3 // long enough for an access token of a minute to become too old
	}
	time.Sleep(time.Duration(pause * float64(time.Second)))
	moved, right := 0, true
	for _, one := range must(client.Transactions(ctx, user, 2)) {
		if one.PortfolioID == portfolio.ID {
			moved++
			right = right && one.AmountChanged == strconv.FormatInt(expected[one.TxHash], 10)
		}
	}
	check("every transfer is listed once", moved == len(expected))
	check("every amount is right", right)
	for _, one := range must(client.Portfolios(ctx, user, 1)) {
		if one.ID == portfolio.ID {
			balance, ok := new(big.Int).SetString(one.TotalBalance, 10)
			// Yield adds to it; the market rounds by a unit or two.
			check("the balance is their sum", ok && balance.Cmp(big.NewInt(sum-5)) >= 0)
		}
	}

	neighbour := user + "-neighbour"
	must(0, client.CreateEndUser(ctx, neighbour))
	check("a neighbour has none of it", len(must(client.Transactions(ctx, neighbour, 100))) == 0)
	if failures > 0 {
		os.Exit(1)
	}
}
