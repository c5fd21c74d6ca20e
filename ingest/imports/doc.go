// Package imports reads result files of other tools into a store: it joins the readers of ingest/foreign, which reach no
// store, and ingest, which knows no formats. Files are read one after the other; of each a report says how far it was read
// and what of it was left out, refused, or in the store already.
package imports
