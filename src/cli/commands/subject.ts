import type { Command } from 'commander'
import { withStores } from '../../app/with-stores.ts'
import { requireCustomer } from '../../commands/customers/customers.ts'
import { eraseSubject } from '../../commands/customers/erasure.ts'
import { isId } from '../../credentials/id.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { counted } from '../../sentence.ts'
import { type OutputOptions, print } from '../../terminal/output.ts'
import { topCommand } from '../context.ts'

type Options = OutputOptions & { tenant: string }

/** `keyledger subject …`: the people whose data a tenant stores. */
export function subjectCommands(program: Command): void {
  const subject = topCommand(program, 'subject')

  subject
    .command('erase <person>')
    .description('Erase a person everywhere, permanently; given by email address or customer id')
    .requiredOption('--tenant <id>')
    .option('--json', 'print {subjectId, licenses, customers, sales, notifications, mails}')
    .action((named: string, options: Options) =>
      withStores(async ({ ports }, origin) => {
        const subjectId = await subjectOf(ports, options.tenant, named)
        const erased = await eraseSubject(ports, options.tenant, subjectId, origin)
        const { licenses, customers, sales, notifications, mails } = erased
        print(options, { subjectId, ...erased }, () => [
          `Erased: the personal data of ${subjectId} can no longer be read.`,
          `${counted(licenses, 'license', 'licenses')}, ${counted(customers, 'customer', 'customers')} and ` +
            `${counted(sales, 'sale', 'sales')} are now marked as erased; ` +
            `${counted(notifications, 'notification', 'notifications')} and ${counted(mails, 'mail', 'mails')} were destroyed.`,
        ])
      }),
    )
}

/** @throws Refusal `customer_not_found`, `subject_not_found` */
async function subjectOf(ports: Ports<'db' | 'subjects'>, tenantId: string, named: string): Promise<string> {
  if (isId('cus', named)) return (await requireCustomer(ports, tenantId, named)).customer.subjectId
  const subjectId = await ports.subjects.findSubject(tenantId, named)
  if (subjectId === undefined) throw new Refusal('subject_not_found')
  return subjectId
}
