import { pagesOfPacked } from './packed-pages.ts'

pagesOfPacked(200)
