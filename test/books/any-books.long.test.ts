import { comparesAnyBooks } from './any-books.ts'

comparesAnyBooks(5)
