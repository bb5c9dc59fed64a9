import { randomNumbers } from '../../harness/random.ts'
import type { Random } from './tamper.ts'

/** Whole numbers below a limit, the same for the same seed. */
export function randomOf(seed: number): Random {
  const next = randomNumbers(seed)
  return (below) => Math.floor(next() * below)
}
