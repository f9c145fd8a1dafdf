# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""What perf's export-to-sqlite.py uses of Qt's SQL classes, over sqlite3."""
import sqlite3


class _Error:
    def __init__(self, error):
        self._error = error

    def text(self):
        return str(self._error)


class QSqlDatabase:
    connection = None

    @classmethod
    def addDatabase(cls, kind):
        assert kind == "QSQLITE"
        return cls()

    def setDatabaseName(self, name):
        self._name = name

    def open(self):
        QSqlDatabase.connection = sqlite3.connect(self._name, isolation_level=None)
        return True


class QSqlQuery:
    def __init__(self, db=None):
        self._cursor = QSqlDatabase.connection.cursor()
        self._text, self._values, self._row, self._error = "", [], None, None

    def prepare(self, text):
        self._text = text

    def addBindValue(self, value):
        self._values.append(value)

    def exec_(self, text=None):
        values, self._values = self._values, []
        try:
            self._cursor.execute(text or self._text, values)
        except sqlite3.Error as error:
            self._error = error
            return False
        return True

    def lastError(self):
        return _Error(self._error)

    def next(self):
        self._row = self._cursor.fetchone()
        return self._row is not None

    def value(self, column):
        return self._row[column]
