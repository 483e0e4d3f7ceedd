// books.ts: prints what the worker believes of its orders, for `yield-sandbox explore --books 'node books.ts'`.
import { Outbox } from './outbox.ts'

console.log(JSON.stringify({ form: 1, transfers: new Outbox().books() }))
