import { faultInChain } from '../../relay/store/changes.ts'
import { readKept } from '../../relay/store/state.ts'
import { CommandRefused } from '../../terminal/exit-codes.ts'
import { fields, type OutputOptions, print } from '../../terminal/output.ts'
import { withRelay } from './open.ts'
import type { DataOption } from './options.ts'

/** `keyledger relay status` @throws CommandRefused when the record of takings was changed */
export async function showStatus({ data, ...options }: DataOption & OutputOptions): Promise<void> {
  const status = await withRelay(data, ({ database, key, enrollment }) =>
    database.read((file) => {
      const { certified, released, seats, head } = readKept(file)
      return {
        name: enrollment.name,
        tenantId: enrollment.tenantId,
        productId: enrollment.productId,
        server: enrollment.server?.url ?? null,
        relayId: certified?.claims.relay_id ?? null,
        publicKey: key.pk,
        released,
        seats: certified?.claims.seats ?? 0,
        seatsInUse: seats.length,
        certificateEndsAt: certified?.claims.exp ?? null,
        entries: head.length,
        fault: faultInChain(file) ?? null,
      }
    }),
  )
  print(options, status, () => fields(status))
  if (status.fault !== null) throw new CommandRefused(`The record of takings is damaged: ${status.fault}.`)
}
