import { madeAnew, openLives } from './namespace-lives.ts'

openLives()

madeAnew(4, 6)
