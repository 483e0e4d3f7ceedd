/** A span of the chain's life. Its end (a reset, a stop) calls off whatever was begun in it. */
export class Era {
  over = false
  readonly ended: Promise<void>
  #end: () => void = () => {}

  constructor() {
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  end(): void {
    this.over = true
    this.#end()
  }
}
