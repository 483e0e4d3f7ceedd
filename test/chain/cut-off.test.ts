import { CASES, leavesItsJournal, openFront } from './cut-offs.ts'

openFront()

/** Of a deposit every way once; of all else what is hardest, that it is carried out later. */
const telling = CASES.filter(([what, how, call]) => {
  if (what !== 'a deposit') return how === 'carried out later' && (what !== 'a pool is paused' || call === 'evm_mine')
  return call === 'eth_sendRawTransaction' || (call === 'evm_mine' && how === 'carried out behind the next')
})

// The others: cut-off.long.test.ts.
leavesItsJournal(telling, ['carried out later'])
