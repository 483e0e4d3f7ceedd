import type { IncomingMessage } from 'node:http'

/** The process that owns what a request is for, as others reach it. */
export interface Owner {
  host: string
  /** Port of its fleet listener. */
  port: number
  /** The fleet's secret: without spaces. */
  secret: string
}

/** Where a request belongs; null: nobody that could be asked owns it now. */
export type OwnerPlace = Owner | 'here' | null

/**
 * Returns the place of a request by its head. `failed`: the owner that turned out to be unreachable, or not the owner, so that an answer
 * from memory does not do.
 */
export type OwnerOf = (request: IncomingMessage, failed?: Owner) => OwnerPlace | Promise<OwnerPlace>
