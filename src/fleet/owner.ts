import type { IncomingMessage } from 'node:http'
import { hostIn } from '../domain/origin.ts'

/** The process that owns what a request is for, as others reach it. */
export interface Owner {
  host: string
  /** Port of its fleet listener. */
  port: number
  /** The fleet's secret: without spaces. */
  secret: string
}

/** The process at an address: an http URL. */
export function ownerAt(address: string, secret: string): Owner {
  const url = new URL(address)
  return { host: hostIn(url), port: Number(url.port), secret }
}

/** Where a request belongs; null: nobody that could be asked owns it now. */
export type OwnerPlace = Owner | 'here' | null

/**
 * Returns the place of a request by its head. `failed`: the owner that turned out to be unreachable, or not the owner, so that an answer
 * from memory does not do.
 */
export type OwnerOf = (request: IncomingMessage, failed?: Owner) => OwnerPlace | Promise<OwnerPlace>
