import { z } from 'zod'

const days = { '7': 7, '30': 30, '90': 90, '365': 365 } as const

/** The lifetime of a token: a number of days, or unlimited. */
export const Lifetime = z.enum(['7', '30', '90', '365', 'never'])
export type Lifetime = z.infer<typeof Lifetime>

export const lifetimes: readonly (readonly [value: Lifetime, label: string])[] = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'One year'],
  ['never', 'No expiration'],
]

export const expiryOf = (lifetime: Lifetime, now: Date): string | null =>
  lifetime === 'never' ? null : new Date(now.getTime() + days[lifetime] * 86_400_000).toISOString()
