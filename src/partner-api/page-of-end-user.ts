import { list, type Page, type PageParameters, parsePage } from '../domain/pagination.ts'
import type { Collections } from '../domain/ports/store.ts'
import type { Service } from '../domain/service.ts'
import type { EndpointRequest } from './endpoint.ts'

/**
 * One page of an end user's records. Throws the problems of paging before end_user_not_found, since the query is checked first (assumption
 * `error-precedence`).
 */
export async function pageOfEndUser<C extends 'portfolios' | 'transactions'>(
  collection: C,
  {
    tenant,
    params,
    query,
  }: Pick<EndpointRequest<{ external_id: string }, PageParameters>, 'tenant' | 'params' | 'query'>,
  service: Service,
): Promise<Page<Collections[C]>> {
  const cursor_scope = `${collection}/${tenant.tenant_id}/${params.external_id}`
  parsePage(query, service.cursors, cursor_scope)
  const user = await service.endUsers.require(tenant, params.external_id)
  return list(service, { collection, scope: user.id, cursor_scope, query })
}
