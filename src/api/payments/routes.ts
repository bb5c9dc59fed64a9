import type { ZodApp } from '../../http/validation.ts'
import type { Limits } from '../../limits/limits.ts'
import type { Ports } from '../../ports.ts'
import type { SalePorts } from '../../sales/receive.ts'
import { buyPages } from './buy.ts'
import { checkoutRoute } from './checkout.ts'
import { notificationRoutes } from './notifications.ts'
import { onboardingPages } from './onboarding.ts'
import { pricingRoute } from './pricing.ts'

/** The routes for customers who pay, payment providers, and the servers of vendors. */
export function paymentRoutes(
  app: ZodApp,
  ports: SalePorts & Ports<'limitHits' | 'providers'>,
  limits: Limits,
  baseUrl: string,
): void {
  onboardingPages(app, ports, baseUrl)
  pricingRoute(app, ports, baseUrl)
  buyPages(app, ports, limits, baseUrl)
  checkoutRoute(app, ports, limits)
  notificationRoutes(app, ports)
}
