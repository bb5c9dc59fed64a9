import { judgeClocks } from '../../app/clock-check.ts'
import type { OtherClock } from '../../ledger/clock-difference.ts'
import type { Check } from './check.ts'

/** Whether this machine's clock agrees with those of the stores and providers. */
export const clockCheck = (others: () => Promise<readonly OtherClock[]>): Check => ({
  name: 'clock',
  run: async () => judgeClocks(await others()),
})
