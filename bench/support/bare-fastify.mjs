import Fastify from 'fastify'

// What the sandbox is compared with: the same framework, one route, nothing done on the way.
const payload = JSON.parse(process.argv[2])
const app = Fastify()
app.get('/static', async () => payload)
process.stdout.write(`${await app.listen({ port: 0 })}\n`)
