const AMOUNT = 'amount_minor: amount.toString()'

/** Mistakes about what is sent, and what is read. */
export const FORMS = [
  {
    id: 'amount-as-number',
    finding: 'amount-format',
    what: 'Sends amount_minor as a JSON number.',
    exercise: {},
    edits: [{ file: 'client.ts', find: AMOUNT, replace: 'amount_minor: Number(amount)' }],
  },
  {
    id: 'amount-as-decimal',
    finding: 'amount-format',
    what: 'Sends amounts in whole tokens with a decimal point.',
    exercise: {},
    edits: [{ file: 'client.ts', find: AMOUNT, replace: 'amount_minor: (Number(amount) / 1e6).toFixed(6)' }],
  },
  {
    id: 'token-address-as-market',
    finding: 'market-address',
    what: "Sends the token's address as market_address.",
    exercise: {},
    edits: [
      {
        file: 'client.ts',
        find: 'const body = { name, chain_id, token_address, market_address, protocol }',
        replace: 'const body = { name, chain_id, token_address, market_address: token_address, protocol }',
      },
    ],
  },
  {
    id: 'strict-answers',
    finding: 'unknown-field-tolerance',
    what: 'Takes the answer to a transfer for broken when it has a field that is not known.',
    exercise: { scenario: 'unknown-fields', attempts: 3 },
    edits: [
      {
        file: 'http.ts',
        find: 'if (answer === undefined) throw',
        replace: `const known =
      /^(tx_hash|transaction_id|portfolio_id|name|description|protocol|chain_id|market_address|deposited|total_balance|compounding_enabled|(token|yield)_.*|.*_at)$/
    const strange = /(deposit|withdraw)$/.test(path) && Object.keys(answer ?? {}).some((field) => !known.test(field))
    if (answer === undefined || strange) throw`,
      },
    ],
  },
]
