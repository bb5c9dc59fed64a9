import { randomNumbers } from '../harness/random.ts'

/** Pseudorandom numbers: the same seed gives the same sequence on every machine. */
export type Random = {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number
  /** An integer from `least` to `most`, both included. */
  between(least: number, most: number): number
  pick<T>(list: readonly T[]): T
  chance(probability: number): boolean
}

/** @param seed an integer; only its lowest 32 bits count */
export function createRandom(seed: number): Random {
  const next = randomNumbers(seed)
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    between,
    pick(list) {
      const picked = list[between(0, list.length - 1)]
      if (picked === undefined) throw new Error('there is nothing to pick from')
      return picked
    },
    chance: (probability) => next() < probability,
  }
}
