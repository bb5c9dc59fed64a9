import { randomNumbers } from '../harness/random.ts'

/** A source of choices that makes the same ones for the same seed. */
export type Random = {
  below: (limit: number) => number
  of: <T>(choices: readonly T[]) => T
}

export function randomOf(seed: number): Random {
  const next = randomNumbers(seed)
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    below,
    of(choices) {
      if (choices.length === 0) throw new Error('there is nothing to choose from')
      return choices[below(choices.length)] as (typeof choices)[number]
    },
  }
}
