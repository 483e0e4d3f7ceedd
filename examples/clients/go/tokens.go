package yield

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"
)

type userToken struct {
	text    string
	expires time.Time
}

// getIDPToken caches the access token until 60 seconds before it expires. It never returns the refused one.
func (c *Client) getIDPToken(ctx context.Context, refused string) (string, error) {
	c.tokens.Lock()
	defer c.tokens.Unlock()
	if c.idpToken != "" && c.idpToken != refused && time.Now().Before(c.staleAt) {
		return c.idpToken, nil
	}
	s := c.settings
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {s.ClientID}, "client_secret": {s.ClientSecret}, "scope": {s.Scope}}
	message, err := http.NewRequestWithContext(ctx, "POST", s.AuthURL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	message.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
	}
	asked := time.Now()
	if err := c.read(message, &answer); err != nil {
		return "", err
	}
	c.idpToken, c.staleAt = answer.AccessToken, asked.Add(time.Duration(answer.ExpiresIn-60)*time.Second)
	return c.idpToken, nil
}

// getUserToken signs a token with the partner's key and keeps it until five minutes before its hour is over.
func (c *Client) getUserToken(user string, renew bool) string {
	if user == "" {
		return ""
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	now := time.Now()
	if kept := c.users[user]; !renew && now.Before(kept.expires.Add(-5*time.Minute)) {
		return kept.text
	}
	s, expires := c.settings, now.Add(time.Hour)
	signed := encode(map[string]any{"alg": "RS256", "kid": s.KeyID, "typ": "JWT"}) + "." + encode(map[string]any{
		"sub": user, "iss": s.Issuer, "aud": s.Audience, "iat": now.Unix(), "exp": expires.Unix(), "jti": NewKey()})
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, c.key, crypto.SHA256, digest[:])
	if err != nil {
		panic(err) // New has seen that the key can sign
	}
	c.users[user] = userToken{signed + "." + base64.RawURLEncoding.EncodeToString(signature), expires}
	return c.users[user].text
}

func encode(part map[string]any) string {
	text, _ := json.Marshal(part) // text and whole numbers never fail
	return base64.RawURLEncoding.EncodeToString(text)
}
