import { comparesAnyBooks } from './any-books.ts'

// More of them: any-books.long.test.ts.
comparesAnyBooks(1 / 5)
