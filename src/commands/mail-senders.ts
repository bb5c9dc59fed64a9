import { findWordings } from '../../projections/wordings.ts'
import { newSecret } from '../credentials/secret.ts'
import { deliveries } from '../domain/deliveries/delivery.ts'
import type { Bounce } from '../domain/deliveries/events.ts'
import type { MailSender } from '../domain/mails/senders.ts'
import { type ConnectedSender, type Wordings, wordings } from '../domain/mails/wordings.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

/** What the vault keeps of a connection: the secret of its address, and what notifications are verified with. */
export type SenderSecrets = { token: string; key: string | null }

const secretName = (operationId: string): string => `mail-sender.${operationId}`

/**
 * Connects the sender of a tenant's mails, in place of the one before it, whose address stops working.
 * @param operationId names this operation, so that a repetition after a crash gives the same address
 * @returns the connection, and the secret of its address
 */
export async function connectMailSender(
  ports: Ports<'execute' | 'now' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  { sender, key }: { sender: MailSender; key: string | null },
  operationId: string,
  origin: Origin,
): Promise<{ connected: ConnectedSender | null; token: string }> {
  const at = momentOf(ports)
  const fresh: SenderSecrets = { token: newSecret(ports.randomBytes), key }
  // Kept before the event that refers to it is appended.
  const kept = await ports.secrets.keep(tenantId, secretName(operationId), JSON.stringify(fresh))
  const command = { type: 'ConnectMailSender', tenantId, sender, operationId, at } as const
  const { state } = await ports.execute(wordings, tenantId, command, causeOf(origin, at))
  await destroyUnused(ports, tenantId, state)
  return { connected: state.sender, token: (JSON.parse(kept) as SenderSecrets).token }
}

/** Ends the connection: its address stops working, and its secrets are destroyed. */
export async function disconnectMailSender(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  tenantId: string,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const command = { type: 'DisconnectMailSender', tenantId, at } as const
  const { state } = await ports.execute(wordings, tenantId, command, causeOf(origin, at))
  await destroyUnused(ports, tenantId, state)
}

/** Also those of a run that was killed before it destroyed them. */
async function destroyUnused(
  { secrets }: Ports<'secrets'>,
  tenantId: string,
  { sender, operationIds }: Wordings,
): Promise<void> {
  const unused = operationIds.filter((id) => id !== sender?.operationId)
  await Promise.all(unused.map((id) => secrets.destroy(tenantId, secretName(id))))
}

/** The connected sender with its secrets; undefined for a tenant without one. */
export async function findMailSender(
  { db, secrets }: Ports<'db' | 'secrets'>,
  tenantId: string,
): Promise<(ConnectedSender & SenderSecrets) | undefined> {
  const { sender } = await findWordings(db, tenantId)
  const kept = sender && (await secrets.open(tenantId, secretName(sender.operationId)))
  return kept ? { ...sender, ...(JSON.parse(kept) as SenderSecrets) } : undefined
}

/**
 * Records that a mail of the tenant bounced. A repeated notification changes nothing, nor does one of a mail that the tenant
 * did not send.
 */
export async function recordBounce(
  ports: Ports<'execute' | 'now'>,
  tenantId: string,
  deliveryId: string,
  bounce: Omit<Bounce, 'at'>,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  await ports.execute(
    deliveries,
    deliveryId,
    async (before) =>
      before.status === 'absent' || before.tenantId !== tenantId
        ? undefined
        : ({ type: 'RecordBounce', ...bounce, at } as const),
    causeOf(origin, at),
  )
}
