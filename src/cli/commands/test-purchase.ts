import type { Command } from 'commander'
import { testPurchaseView } from '../../api/management/integrations/test-purchases.ts'
import { baseUrlOf, sendOverHttp } from '../../app/start/own-address.ts'
import { withStores } from '../../app/with-stores.ts'
import { licenseOfTestPurchase, startTestPurchase } from '../../commands/test-purchases.ts'
import { parseConfig } from '../../config.ts'
import { Provider } from '../../domain/integrations/provider.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Stage } from '../../domain/test-purchases/events.ts'
import type { KnownTestPurchase } from '../../domain/test-purchases/test-purchase.ts'
import { ProviderUnavailable } from '../../payments/errors.ts'
import { createTestPurchaseDriver } from '../../reactions/test-purchase-driver.ts'
import { createTestPurchaseRunner, type TestPurchaseDriver } from '../../reactions/test-purchases.ts'
import { CommandRefused, CommandUnavailable } from '../../terminal/exit-codes.ts'
import { fields, type OutputOptions, print, printToStderr } from '../../terminal/output.ts'
import { parsed } from '../arguments.ts'
import { topCommand } from '../context.ts'

type Options = OutputOptions & { tenant: string; keyType?: string; provider?: string }

/** `keyledger test-purchase`: runs a simulated sale against the running server. */
export function testPurchaseCommand(program: Command): void {
  topCommand(program, 'test-purchase')
    .requiredOption('--tenant <id>')
    .option('--key-type <id>', "the key type to buy; defaults to the product's first")
    .option('--provider <name>', 'defaults to the first connected provider that sells the product')
    .option('--json', 'print the test purchase as in GET /v1/test-purchase/{id}')
    .action((productId: string, options: Options) =>
      withStores(async ({ ports }, origin) => {
        const provider =
          options.provider === undefined ? undefined : parsed(Provider, options.provider, '--provider')
        const product = await ports.findProduct(options.tenant, productId)
        if (!product) throw new Refusal('product_not_found')
        const request = { keyTypeId: options.keyType, provider }
        const { testPurchaseId } = await startTestPurchase(ports, product, request, origin)
        const driver = createTestPurchaseDriver(ports, sendOverHttp(baseUrlOf(parseConfig(process.env))))
        let mayRecover = false
        const reporting = reportingStages(driver, () => {
          mayRecover = true
        })
        const ended = await createTestPurchaseRunner(ports, reporting)(testPurchaseId, origin)
        if (!ended) throw new Refusal('test_purchase_not_found')
        const view = testPurchaseView(ended, await licenseOfTestPurchase(ports, ended))
        print(options, view, () => fields(view))
        if (view.status !== 'failed') return
        if (mayRecover) throw new CommandUnavailable('The test purchase failed. Try again.')
        throw new CommandRefused('The test purchase failed.')
      }),
    )
}

/**
 * Prints the outcome of each stage to stderr while the next one runs.
 * @param onRecoverable called for a failed stage that may succeed later
 */
function reportingStages(driver: TestPurchaseDriver, onRecoverable: () => void): TestPurchaseDriver {
  const telling = (stage: Stage) => async (purchase: KnownTestPurchase) => {
    const ended = await driver[stage](purchase).catch((error: unknown) => {
      if (error instanceof ProviderUnavailable) onRecoverable()
      throw error
    })
    if (ended.mayRecover) onRecoverable()
    printToStderr(`${stage}: ${ended.outcome}, ${ended.detail}`)
    return ended
  }
  return {
    checkout: telling('checkout'),
    webhook: telling('webhook'),
    license_minted: telling('license_minted'),
  }
}
