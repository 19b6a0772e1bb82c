#include "proto/answer/example.h"

#include <stddef.h>

#define TABLE    "\"tensor\":[[1,2],[3,4]],\"indices\":[[1],[0],[1]],\"updates\":[[1,2],[4,8],[2,2]]"
#define SEGMENTS "\"data\":[[1,2],[3,4],[5,6]],\"indices\":[2,0,1],\"segment_ids\":[0,0,2]"
#define ROWS     "\"data\":[[1,2],[3,4],[5,6]],\"segment_ids\":[0,0,2]"
#define UNSORTED "\"data\":[[1,2],[3,4],[5,6]],\"segment_ids\":[1,-1,1],\"num_segments\":2"
#define EIGHT    "\"indices\":[[4],[3],[1],[7]],\"updates\":[9,10,11,12]"

static const struct example examples[] = {
    {"TensorScatterSub",
     "Both updates go to the same element: they are subtracted one after the other",
     "\"tensor\":[[-0.1,0.3,3.6],[0.4,0.5,-3.2]],\"indices\":[[0,0],[0,0]],\"updates\":[1.0,2.2]",
     NULL, "[-3.3000002,0.3,3.6,0.4,0.5,-3.2]", NULL},
    {"TensorScatterNdAdd", "Each index says which element of the tensor its update is added to",
     "\"tensor\":[1,1,1,1,1,1,1,1]," EIGHT, NULL, "[1.0,12.0,1.0,11.0,10.0,1.0,1.0,13.0]", NULL},
    {"ScatterNd", "Updates are placed into zeros of the given shape", EIGHT ",\"shape\":[8]", NULL,
     "[0.0,11.0,0.0,10.0,9.0,0.0,0.0,12.0]", NULL},
    {"ScatterNd", "With strings: those that meet are put one behind the other",
     "\"indices\":[[1],[3],[1]],"
     "\"updates\":{\"datatype\":\"BYTES\",\"data\":[\"scat\",\"hello\",\"ter\"]},\"shape\":[5]",
     NULL, "[\"\",\"scatter\",\"\",\"hello\",\"\"]", NULL},
    {"sparse_segment_mean",
     "Rows 2 and 0 form segment 0, row 1 forms segment 2: the mean of each; segment 1 is empty",
     SEGMENTS, NULL, "[3.0,4.0,0.0,0.0,3.0,4.0]", NULL},
    {"tensor_scatter_sub", "Each update is subtracted from the row that its index names", TABLE,
     NULL, "[-3.0,-6.0,0.0,0.0]", NULL},
    {"tensor_scatter_add", "A bad index: the answer names it, and nothing is computed",
     "\"tensor\":[1,2,3,4],\"indices\":[[1],[7]],\"updates\":[10,20]",
     "{\"bad_indices_policy\":\"ERROR\"}", NULL, "INDEX_OUT_OF_BOUNDS"},
    {"tensor_scatter_add", "Each update is added to the row that its index names", TABLE, NULL,
     "[5.0,10.0,6.0,8.0]", NULL},
    {"tensor_scatter_update",
     "Each update replaces the row that its index names; the last one stays", TABLE, NULL,
     "[4.0,8.0,2.0,2.0]", NULL},
    {"tensor_scatter_mul", "Each update multiplies the row that its index names", TABLE, NULL,
     "[4.0,16.0,6.0,16.0]", NULL},
    {"tensor_scatter_div", "Each update divides the row that its index names", TABLE, NULL,
     "[0.25,0.25,1.5,1.0]", NULL},
    {"tensor_scatter_min", "The least of the row and its updates stays", TABLE, NULL,
     "[1.0,2.0,1.0,2.0]", NULL},
    {"tensor_scatter_max", "The greatest of the row and its updates stays", TABLE, NULL,
     "[4.0,8.0,3.0,4.0]", NULL},
    {"scatter_nd", "Updates that meet in one element add up",
     "\"indices\":[[2],[0],[2]],\"updates\":[1,2,3],\"shape\":[4]", NULL, "[2.0,0.0,4.0,0.0]",
     NULL},
    {"gather_nd", "Reads the rows that the indices name",
     "\"params\":[[1,2],[3,4]],\"indices\":[[1],[0]]", NULL, "[3.0,4.0,1.0,2.0]", NULL},
    {"sparse_segment_sum", "Rows 2 and 0 form segment 0, row 1 forms segment 2: the sum of each",
     SEGMENTS, NULL, "[6.0,8.0,0.0,0.0,3.0,4.0]", NULL},
    {"sparse_segment_sqrt_n", "The sum of each segment, divided by the root of its number of rows",
     "\"data\":[1,2,3,4],\"indices\":[0,1,2,3],\"segment_ids\":[0,0,0,0]", NULL, "[5.0]", NULL},
    {"gather", "Reads the rows whose numbers the indices are",
     "\"params\":[[1,2],[3,4],[5,6]],\"indices\":[2,0]", NULL, "[5.0,6.0,1.0,2.0]", NULL},
    {"unsorted_segment_sum",
     "Rows 0 and 2 belong to segment 1: their sum; row 1 has a negative id, and is left out",
     UNSORTED, NULL, "[0.0,0.0,6.0,8.0]", NULL},
    {"unsorted_segment_prod", "The product of each segment; 1 where it has no rows", UNSORTED, NULL,
     "[1.0,1.0,5.0,12.0]", NULL},
    {"unsorted_segment_min",
     "The least of each segment; the highest number that there is where it has no rows",
     "\"data\":{\"datatype\":\"INT32\",\"data\":[7,3,5]},\"segment_ids\":[2,0,2],"
     "\"num_segments\":3",
     NULL, "[3,2147483647,5]", NULL},
    {"unsorted_segment_max",
     "The greatest of each segment; the lowest number that there is where it has no rows",
     "\"data\":{\"datatype\":\"INT32\",\"data\":[7,3,5]},\"segment_ids\":[2,0,2],"
     "\"num_segments\":3",
     NULL, "[3,-2147483648,7]", NULL},
    {"unsorted_segment_mean", "The mean of the rows of each segment", UNSORTED, NULL,
     "[0.0,0.0,3.0,4.0]", NULL},
    {"unsorted_segment_sqrt_n",
     "The sum of each segment, divided by the root of its number of rows",
     "\"data\":[1,2,3,4],\"segment_ids\":[1,1,1,1],\"num_segments\":2", NULL, "[0.0,5.0]", NULL},
    {"segment_sum", "Rows 0 and 1 form segment 0, row 2 forms segment 2: the sum of each", ROWS,
     NULL, "[4.0,6.0,0.0,0.0,5.0,6.0]", NULL},
    {"segment_prod", "The product of each segment; 1 where it has no rows", ROWS, NULL,
     "[3.0,8.0,1.0,1.0,5.0,6.0]", NULL},
    {"segment_min", "The least of each segment; 0 where it has no rows", ROWS, NULL,
     "[1.0,2.0,0.0,0.0,5.0,6.0]", NULL},
    {"segment_max", "The greatest of each segment; 0 where it has no rows", ROWS, NULL,
     "[3.0,4.0,0.0,0.0,5.0,6.0]", NULL},
    {"segment_mean", "The mean of the rows of each segment", ROWS, NULL,
     "[2.0,3.0,0.0,0.0,5.0,6.0]", NULL},
};

int example_count(void)
{
    return (int)(sizeof examples / sizeof examples[0]);
}

const struct example *example_at(int i)
{
    return &examples[i];
}
