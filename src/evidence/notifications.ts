import type { KnownSale } from '../domain/sales/sale.ts'
import type { Ports } from '../ports.ts'
import { readSaleEvents } from '../sales/events.ts'
import { jsonFile } from './lines.ts'
import type { ArchivedFile } from './zip.ts'

/** The payment provider's notifications, byte for byte, as far as they are stored; and a list of all. */
export async function* notificationFiles(
  ports: Ports<'ledger' | 'secrets'>,
  sale: KnownSale,
): AsyncIterable<ArchivedFile> {
  const list: object[] = []
  for (const { type, data } of await readSaleEvents(ports, sale)) {
    if (!('payload' in data)) continue
    const raw = await ports.secrets.open(sale.tenantId, data.payload)
    const name = `notifications/${String(list.length + 1).padStart(4, '0')}.txt`
    const { notificationId, occurredAt, at: receivedAt } = data
    const file = raw === undefined ? null : name
    list.push({ provider: sale.provider, notificationId, event: type, occurredAt, receivedAt, file })
    if (raw !== undefined) yield { name, content: Buffer.from(raw) }
  }
  yield jsonFile('notifications.json', list)
}
