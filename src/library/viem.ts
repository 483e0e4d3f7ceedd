import type * as viem from 'viem'

/** The part of viem that makes the clients of a handle's chains. Named, so that a bundler leaves out the rest. */
export type Viem = Pick<typeof viem, 'createTestClient' | 'defineChain' | 'http' | 'publicActions'>
