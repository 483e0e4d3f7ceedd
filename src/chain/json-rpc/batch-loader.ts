import { breathe } from '../../support/breathe.ts'

/** Distinct questions that wait to be answered together. */
interface Batch<Question, Answer> {
  places: Map<string, number>
  questions: Question[]
  answers: Promise<Answer[]>
}

/** Gathers the questions of one turn of the event loop and has them answered together; equal questions are asked only once. */
export class BatchLoader<Question, Answer> {
  readonly #keyOf: (question: Question) => string
  readonly #answer: (questions: readonly Question[]) => Promise<Answer[]>
  #gathering: Batch<Question, Answer> | undefined

  /**
   * @param keyOf equal questions have the same key
   * @param answer returns the answers in the order of the questions
   */
  constructor(keyOf: (question: Question) => string, answer: (questions: readonly Question[]) => Promise<Answer[]>) {
    this.#keyOf = keyOf
    this.#answer = answer
  }

  /** Rejects as `answer` does, for all callers that share the batch. */
  async load(questions: readonly Question[]): Promise<Answer[]> {
    this.#gathering ??= this.#begin()
    const { places, questions: all, answers } = this.#gathering
    const own = questions.map((question) => {
      const key = this.#keyOf(question)
      const place = places.get(key) ?? all.push(question) - 1
      places.set(key, place)
      return place
    })
    const answered = await answers
    return own.map((place) => answered[place] as Answer)
  }

  #begin(): Batch<Question, Answer> {
    const questions: Question[] = []
    return { places: new Map(), questions, answers: this.#send(questions) }
  }

  async #send(questions: readonly Question[]): Promise<Answer[]> {
    await breathe()
    this.#gathering = undefined
    return this.#answer(questions)
  }
}
