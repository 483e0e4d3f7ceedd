/** The part of `node:sqlite` that the worker in TypeScript uses: the types of Node 20 do not have it. */
declare module 'node:sqlite' {
  export class DatabaseSync {
    constructor(path: string)
    exec(sql: string): void
    prepare(sql: string): { run(...values: (string | number)[]): unknown; all(...values: string[]): unknown[] }
  }
}
