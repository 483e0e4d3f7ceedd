const port = process.env.SANDBOX_PORT ?? '4010'
process.env.YIELD_SANDBOX_URL = `http://127.0.0.1:${port}`

export default {
  workers: 1, // they share the application, and so its namespace
  webServer: {
    command: `npx yield-sandbox start --quiet --confirmation-delay 0 --port ${port}`,
    url: `${process.env.YIELD_SANDBOX_URL}/_sandbox/ready`,
    reuseExistingServer: !process.env.CI,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 10_000 },
  },
}
