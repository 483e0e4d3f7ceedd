// Changes that several mistakes are made of.

export const SEND = 'return withRetries(this.#attempts, () => this.#withTokens<T>(request), request.key)'

/** Takes a fresh key for the retry of what failed in this way. */
export const freshKeyWhen = (condition) => [
  {
    file: 'http.ts',
    find: SEND,
    replace: `return withRetries(this.#attempts, () =>
      this.#withTokens<T>(request).catch((error) => {
        if (${condition}) request = { ...request, key: crypto.randomUUID() }
        throw error
      }),
    )`,
  },
]

/** Repeats soon and as it was what was refused in this way, three times. */
export const repeatedWhen = (condition) => [
  {
    file: 'http.ts',
    find: SEND,
    replace: `return withRetries(this.#attempts, async () => {
      for (let again = 0; ; again++) {
        try {
          return await this.#withTokens<T>(request)
        } catch (error) {
          if (again === 3 || !(error instanceof ApiError && (${condition}))) throw error
          await new Promise((wake) => setTimeout(wake, 100))
        }
      }
    })`,
  },
]

/** Sends transfers once; `otherwise` is what is done about a drop. */
export const transfersSentOnce = (otherwise) => [
  {
    file: 'http.ts',
    find: SEND,
    replace: `if (!/(deposit|withdraw)$/.test(request.path)) ${SEND}
    return this.#withTokens<T>(request).catch((error) => {
      if (error instanceof NoAnswer) ${otherwise}
      throw error
    })`,
  },
]

/** Makes all keys in another way; `code` may use the count `made`. */
export const keysMadeBy = (code) => [
  {
    file: 'client.ts',
    find: "import { randomUUID } from 'node:crypto'",
    replace: `let made = 0\nconst randomUUID = () => ${code}`,
  },
]

/** Another header of user tokens. */
export const headerWith = (header) => [
  { file: 'tokens.ts', find: "const header = { alg: 'RS256', kid, typ: 'JWT' }", replace: `const header = ${header}` },
]
