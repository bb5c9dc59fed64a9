import { judgeClocks } from '../../app/start/clock-check.ts'
import type { OtherClock } from '../../ledger/connection/clock-difference.ts'
import type { Check } from './check.ts'

/** Compares this machine's clock with those of the stores and providers. */
export const clockCheck = (others: () => Promise<readonly OtherClock[]>): Check => ({
  name: 'clock',
  run: async () => judgeClocks(await others()),
})
