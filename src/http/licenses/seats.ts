import { z } from 'zod'
import type { FloatingSeat } from '../../commands/devices/floating.ts'
import { SeatsTaken } from '../../commands/devices/seats-taken.ts'
import { unixSeconds } from '../../domain/licenses/expiry.ts'
import { FloatingSeats, NamedSeats } from '../../domain/products/key-type.ts'

/** Names a floating seat, so that a device which was cut off cannot mean that of its successor. */
export const fence = z.int().min(1).optional().meta({
  description:
    'The `fence` of the floating seat that the call is about, as it was answered; ignored for other seats',
  example: 7,
})

/** What an answer says of a floating seat. */
export const seatShape = {
  seat: z
    .object({
      id: z.string().meta({
        description: 'The device that has the seat, by the id that it is called with',
        example: 'ins_06f5w3k8hx7vq2m4n9t1r0s5zc',
      }),
      fence: z.int().meta({ description: 'Rises with each taking of a seat of the license', example: 7 }),
      ends_at: z.int().meta({
        description: 'Until when the seat is kept without another call, in Unix seconds',
        example: 1_795_254_000,
      }),
    })
    .optional()
    .meta({
      description: 'The floating seat of the device; absent for one that lasts until it is given back',
    }),
}

/** @param id by which the device is called */
export const seatShown = (id: string, floating: FloatingSeat | undefined) =>
  floating === undefined ? {} : { seat: { id, fence: floating.fence, ends_at: unixSeconds(floating.endsAt) } }

/** What a refused taking of a floating seat says. */
export const waitingShape = {
  retry_after: z
    .int()
    .min(1)
    .optional()
    .meta({
      description:
        'In how many seconds the first floating seat may be free: come again then. Only with `seat_limit_reached` of a license with ' +
        'floating seats',
      example: 240,
    }),
  waiting: z.int().min(1).optional().meta({
    description:
      'How many wait for a seat, this device included: those who were told to come again, and have not yet',
    example: 3,
  }),
  holders: z
    .array(
      z.object({
        name: z.string().meta({ description: 'The label of the device', example: 'MacBook' }),
        since: z
          .int()
          .meta({ description: 'Since when it has its seat, in Unix seconds', example: 1_795_253_400 }),
      }),
    )
    .optional()
    .meta({
      description:
        'Who has the seats, the longest first and at most 20. Only where the product has `showSeatHolders`',
    }),
}

/** What a taker is told that found no floating seat; nothing for any other refusal. */
export function waitingShown(error: unknown) {
  if (!(error instanceof SeatsTaken)) return {}
  const { retryAfterSeconds, waiting, holders } = error.waiting
  return {
    retry_after: retryAfterSeconds,
    waiting,
    ...(holders && { holders: holders.map(({ name, since }) => ({ name, since: unixSeconds(since) })) }),
  }
}

export const seatPolicy = z.enum(['device', 'floating', 'named']).meta({
  description:
    '`device`: a device keeps its seat until it gives it back. `floating`: it has its seat only as long as it calls, as ' +
    '`floatingSeats` says. `named`: a person has the seat, for devices of their own. Absent means `device`',
  example: 'floating',
})

/** The fields of a key type and of a license about how their seats float. */
export const seatPolicyShape = {
  seatPolicy: seatPolicy.optional(),
  floatingSeats: FloatingSeats.optional().meta({
    description: 'How its seats float; absent where a device keeps its seat',
  }),
  namedSeats: NamedSeats.optional().meta({
    description: 'What a person may do with a seat; absent unless people have the seats',
  }),
}

export const seatPolicyShown = ({
  floatingSeats,
  namedSeats,
}: {
  floatingSeats?: FloatingSeats | null | undefined
  namedSeats?: NamedSeats | null | undefined
}) => ({
  ...(floatingSeats && { seatPolicy: 'floating' as const, floatingSeats }),
  ...(namedSeats && { seatPolicy: 'named' as const, namedSeats }),
})
