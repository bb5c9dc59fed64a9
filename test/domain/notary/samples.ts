import type { NotaryCommand } from '../../../src/domain/notary/notary-log.ts'
import { goldenData } from '../golden.ts'

export const notaryCommands: readonly NotaryCommand[] = [
  { type: 'StartNotaryLog', lastCheckpoint: null, ...goldenData('notary', 'NotaryLogStarted') },
  { type: 'AddNotaryKey', ...goldenData('notary', 'NotaryKeyAdded') },
  { type: 'RetireNotaryKey', ...goldenData('notary', 'NotaryKeyRetired') },
]
