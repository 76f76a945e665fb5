import type pg from "pg";
import "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import type {} from "postgraphile/graphile-build-pg";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { LOG_DAYS } from "./log_days.ts";

/**
 * What PostGraphile makes of schema `admin`: its views as connections, its functions as fields and mutations, and nothing
 * else. Descriptions are the database's comments; what may be filtered and ordered by is tagged there, beside the index.
 */

/** Names as in the database: `id` and not `rowId`, `offers` and not `allOffers`, `offer` and not `offerByRowId`; what changed by its kind. */
const PlainNames: GraphileConfig.Plugin = {
  name: "PlainNames",
  version: "1.0.0",
  inflection: {
    replace: {
      _attributeName(previous, _options, details) {
        return previous ? previous({ ...details, skipRowId: true }) : details.attributeName;
      },
      allRowsConnection(_previous, _options, resource) {
        return this.camelCase(this.pluralize(this._singularizedResourceName(resource)));
      },
      rowByUnique(_previous, _options, { resource }) {
        return this.camelCase(this._singularizedResourceName(resource));
      },
      listField(_previous, _options, baseName) {
        return baseName;
      },
      functionMutationResultFieldName(_previous, _options, { resource }) {
        return this.camelCase(this._singularizedCodecName(resource.codec));
      },
    },
  },
};

/** @param pool sessions that may read the catalogue */
export const createPreset = (pool: pg.Pool): GraphileConfig.Preset => ({
  extends: [PostGraphileAmberPreset],
  plugins: [PlainNames, ...LOG_DAYS],
  disablePlugins: [
    // Rows have ids of their own.
    "NodePlugin",
    "NodeAccessorPlugin",
    "NodeIdCodecBase64JSONPlugin",
    "NodeIdCodecPipeStringPlugin",
    "AddNodeInterfaceToSuitableTypesPlugin",
    "RegisterQueryNodePlugin",
    "PgTableNodePlugin",
    "PgNodeIdAttributesPlugin",
    // The root within itself would make depth without end.
    "QueryQueryPlugin",
    "MutationPayloadQueryPlugin",
    // Everything that changes is a function with a name of its own.
    "PgMutationCreatePlugin",
    "PgMutationUpdateDeletePlugin",
    "PgMutationPayloadEdgePlugin",
    "SubscriptionPlugin",
    // The schema is the same whatever the login is that reads the catalogue.
    "PgRBACPlugin",
  ],
  pgServices: [makePgService({ pool, schemas: ["admin"], pubsub: false })],
  schema: { defaultBehavior: "-totalCount -filterBy -orderBy" },
});
