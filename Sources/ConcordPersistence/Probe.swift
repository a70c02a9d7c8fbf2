#if Persistence
import GRDB
import GRDBSQLite
func probe() throws { let q = try DatabaseQueue(); try q.read { db in let s = try db.makeStatement(sql: "SELECT 1"); sqlite3_step(s.sqliteStatement) } }
#endif
