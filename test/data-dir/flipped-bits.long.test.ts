import { bitsAreTold } from './flipped-bits.ts'

bitsAreTold(1)
