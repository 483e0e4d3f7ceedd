import { madeAnew, openLives } from './namespace-lives.ts'

openLives()

madeAnew(6)
