# The image of migrate, api and worker; the command says which. docker-compose.yml runs all three, beside a PostgreSQL.
# It runs on a read-only file system, and writes nothing but its log.

FROM node:24-slim AS packages
WORKDIR /souk
COPY package.json package-lock.json .npmrc ./
# Without the packages' scripts: one loads another Node, and one sends telemetry.
RUN npm ci --omit=dev --ignore-scripts

FROM node:24-slim
WORKDIR /souk
COPY --from=packages /souk/node_modules node_modules
COPY LICENSE package.json ./
COPY db db
COPY src src
COPY worker worker
# As in the scripts of package.json, with the option of node below (src/main.ts has the reasons).
ENV MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072
# A container has its own network, so nobody is let in by this alone.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
EXPOSE 3000
USER node
# Of the API: a worker answers no requests (docker-compose.yml).
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=4", "src/main.ts", "api"]
